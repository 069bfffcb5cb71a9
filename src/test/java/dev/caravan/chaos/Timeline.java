package dev.caravan.chaos;

import dev.caravan.shard.Role;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** What was done to whom, and when, by this machine's clock: with it, what a fault left behind is explained. */
final class Timeline {
    private static final long SLACK_MILLIS = 1_000;
    /** The server says "no space left" for a while after there is some. */
    private static final long AFTER_EFFECT_MILLIS = 5_000;

    /** @param to the end of the fault; {@link Long#MAX_VALUE} while it lasts */
    record Entry(String what, long from, long to) {}

    private final List<Entry> entries = new ArrayList<>();

    synchronized Entry began(String what) {
        Entry entry = new Entry(what, System.currentTimeMillis(), Long.MAX_VALUE);
        entries.add(entry);
        System.out.printf("chaos %tT.%<tL %s%n", entry.from(), what);
        return entry;
    }

    synchronized void ended(Entry entry) {
        entries.remove(entry);
        entries.add(new Entry(entry.what(), entry.from(), System.currentTimeMillis()));
        System.out.printf("chaos %tT.%<tL end of %s%n", System.currentTimeMillis(), entry.what());
    }

    synchronized void happened(String what) {
        long now = began(what).from();
        entries.set(entries.size() - 1, new Entry(what, now, now));
    }

    /** Whether a process may have been kept from removing a file that it wrote at {@code millis}: killed, or cut off. */
    boolean explainsFileOf(long millis) {
        return lasted(millis, SLACK_MILLIS, "kill of", "death of", "hang of");
    }

    /** Whether a node that starts at {@code millis} may find a mount that does not work. */
    boolean explainsRefusalAt(long millis) {
        return lasted(millis, AFTER_EFFECT_MILLIS, "death of", "hang of", "disk full");
    }

    private synchronized boolean lasted(long millis, long slack, String... kinds) {
        return entries.stream()
                .filter(entry -> Arrays.stream(kinds).anyMatch(entry.what()::startsWith))
                .anyMatch(entry -> entry.from() - slack <= millis
                        && (entry.to() == Long.MAX_VALUE || millis <= entry.to() + slack));
    }

    synchronized long count(String what) {
        return entries.stream().filter(entry -> entry.what().startsWith(what)).count();
    }

    synchronized long holdersKilled(Role role) {
        return entries.stream()
                .filter(entry -> entry.what().endsWith(", holder of " + role))
                .count();
    }

    synchronized long skewedStarts() {
        return entries.stream()
                .filter(entry -> entry.what().contains("with a clock"))
                .count();
    }
}
