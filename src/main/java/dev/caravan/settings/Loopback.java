package dev.caravan.settings;

import java.util.regex.Pattern;

/** Names and addresses that only the machine itself answers to. */
public final class Loopback {
    private static final Pattern NAMES = Pattern.compile("localhost|127\\.\\d+\\.\\d+\\.\\d+|::1");

    private Loopback() {}

    public static boolean is(String host) {
        return NAMES.matcher(host).matches();
    }
}
