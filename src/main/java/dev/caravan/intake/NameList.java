package dev.caravan.intake;

import java.util.Collection;
import java.util.stream.Collectors;

/** File names in messages: printable, and as a rule no more than a few. */
final class NameList {
    private static final int SHOWN = 10;

    private NameList() {}

    static String of(Collection<String> names) {
        String shown = names.stream().limit(SHOWN).map(NameList::printable).collect(Collectors.joining(", "));
        return names.size() > SHOWN ? shown + " and " + (names.size() - SHOWN) + " more" : shown;
    }

    /** Of files whose data would be lost without a word. */
    static String all(Collection<String> names) {
        return names.stream().map(NameList::printable).collect(Collectors.joining(", "));
    }

    static String printable(String name) {
        StringBuilder text = new StringBuilder(name.length());
        name.codePoints().forEach(c -> {
            if (Character.isISOControl(c) || c == 0x2028 || c == 0x2029) {
                text.append(c < 0x100 ? "\\x%02x".formatted(c) : "\\u%04x".formatted(c));
            } else {
                text.appendCodePoint(c);
            }
        });
        return text.toString();
    }

    static boolean isPrintable(String name) {
        return printable(name).equals(name);
    }
}
