package dev.caravan.settings;

import java.time.Duration;
import java.util.List;
import java.util.regex.Pattern;

/** Refuses values that can be read, but with which nodes would harm each other or do nothing. */
final class SafetyRules {
    private static final int BEATS_IN_A_LEASE = 4;
    private static final List<String> POSITIVE =
            List.of("claim.lease", "claim.heartbeat", "claim.margin", "claim.poll", "retry.backoff", "run.wait");
    private static final Pattern NODE_ID = Pattern.compile("|[A-Za-z0-9][A-Za-z0-9._-]{0,99}");
    private static final Pattern TOKEN = Pattern.compile("|[!-~]{16,}");
    private static final Pattern HOST = Pattern.compile("\\S+");

    private final Draft draft;

    private SafetyRules(Draft draft) {
        this.draft = draft;
    }

    static void apply(Draft draft) {
        new SafetyRules(draft).apply();
    }

    private void apply() {
        POSITIVE.forEach(this::positive);
        leaseOutlivesBeats();
        marginLeavesTimeToWork();
        backoffGrows();
        within("claim.watch", 1, Integer.MAX_VALUE);
        atLeast("intake.shard_bytes", 1);
        within("node.slots", 1, Integer.MAX_VALUE);
        within("node.prefetch", 0, Integer.MAX_VALUE);
        within("gpus.logical", 0, Integer.MAX_VALUE);
        within("http.port", 0, 65_535);
        form("node.id", NODE_ID, "at most 100 letters, digits, dots, dashes, underscores, first a letter or digit");
        form("http.token", TOKEN, "at least 16 visible ASCII characters");
        strangersNeedTheToken();
        form("http.host", HOST, "a host name or address such as 127.0.0.1 or 0.0.0.0");
    }

    private void leaseOutlivesBeats() {
        if (draft.areReadable("claim.lease", "claim.heartbeat")) {
            Duration least = duration("claim.heartbeat").multipliedBy(BEATS_IN_A_LEASE);
            if (duration("claim.lease").compareTo(least) < 0) {
                refuse(
                        "claim.lease",
                        "claim.heartbeat",
                        "at least 4 x claim.heartbeat = " + Durations.format(least),
                        "; raise claim.lease or lower claim.heartbeat, else a living node is taken for dead");
            }
        }
    }

    private void marginLeavesTimeToWork() {
        if (draft.areReadable("claim.margin", "claim.lease")) {
            Duration limit = duration("claim.lease").dividedBy(2);
            if (duration("claim.margin").compareTo(limit) >= 0) {
                refuse(
                        "claim.margin",
                        "claim.lease",
                        "less than half of claim.lease = " + Durations.format(limit),
                        "; lower claim.margin or raise claim.lease, else a node gives up at its first late beat");
            }
        }
    }

    private void backoffGrows() {
        if (draft.areReadable("retry.backoff", "retry.backoff_max")
                && duration("retry.backoff_max").compareTo(duration("retry.backoff")) < 0) {
            String least =
                    "at least retry.backoff = " + draft.get("retry.backoff").value();
            refuse("retry.backoff_max", "retry.backoff", least, "");
        }
    }

    private void strangersNeedTheToken() {
        String host = draft.get("http.host").value();
        if (draft.get("http.token").value().isEmpty() && HOST.matcher(host).matches() && !Loopback.is(host)) {
            refuse(
                    "http.token",
                    "http.host",
                    "a secret, since http.host " + host + " lets other machines in",
                    "; set http.token, or keep http.host 127.0.0.1");
        }
    }

    private void positive(String key) {
        if (draft.areReadable(key) && duration(key).isZero()) {
            refuse(key, key, "more than nothing", "");
        }
    }

    private void atLeast(String key, long bytes) {
        if (draft.areReadable(key) && ByteSizes.parse(draft.get(key).value()) < bytes) {
            refuse(key, key, "at least " + bytes + "B", "");
        }
    }

    private void within(String key, int least, int most) {
        if (draft.areReadable(key)) {
            int found = Integer.parseInt(draft.get(key).value());
            if (found < least || found > most) {
                String range = most == Integer.MAX_VALUE ? "at least " + least : least + " to " + most;
                refuse(key, key, range, "");
            }
        }
    }

    private void form(String key, Pattern form, String expected) {
        if (!form.matcher(draft.get(key).value()).matches()) {
            refuse(key, key, expected, "");
        }
    }

    /** Shown where the user wrote something: at the key, or at the other one of the rule if the key has its default. */
    private void refuse(String key, String other, String expected, String advice) {
        Setting setting = draft.get(key);
        Setting shown = setting.isDefault() ? draft.get(other) : setting;
        String found = "'" + setting.value() + "'" + (setting.isDefault() ? " (the default)" : "");
        draft.problems().add(shown.origin(), key + ": expected " + expected + ", found " + found + advice);
    }

    private Duration duration(String key) {
        return Durations.parse(draft.get(key).value());
    }
}
