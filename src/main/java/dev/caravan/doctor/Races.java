package dev.caravan.doctor;

import dev.caravan.store.Probe;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;

/** Judges a race for names: each has one winner, and holds what its winner wrote, if only after a while. */
final class Races {
    private static final long POLL_NANOS = 50_000_000;

    private final Probe probe;
    private final LongSupplier nanoClock;
    private final Duration patience;

    /** @param patience for the content of all names to be seen */
    Races(Probe probe, LongSupplier nanoClock, Duration patience) {
        this.probe = probe;
        this.nanoClock = nanoClock;
        this.patience = patience;
    }

    /**
     * @param won numbers of the names that each contender believes to have won
     * @param broken the grade if a name has no winner or several
     */
    Measured judge(Property property, Path folder, int names, Map<String, List<Integer>> won, Grade broken)
            throws IOException {
        Map<Integer, String> winner = new HashMap<>();
        int twice = 0;
        for (Map.Entry<String, List<Integer>> contender : won.entrySet()) {
            for (int number : contender.getValue()) {
                twice += winner.put(number, contender.getKey()) == null ? 0 : 1;
            }
        }
        int without = names - winner.size();
        int foreign = twice + without > 0 ? 0 : withOtherContent(folder, winner);
        String measured = names + " names, " + won.size() + " contenders: ";
        if (twice + without + foreign > 0) {
            return new Measured(
                    property,
                    measured + twice + " won by several, " + without + " by none, " + foreign
                            + " not with the winner's content",
                    broken);
        }
        boolean contested =
                won.values().stream().filter(list -> !list.isEmpty()).count() > 1;
        measured += "one winner each";
        return contested ? Measured.ok(property, measured) : Measured.warn(property, measured + ", but all by one");
    }

    private int withOtherContent(Path folder, Map<Integer, String> winner) throws IOException {
        long began = nanoClock.getAsLong();
        Map<Integer, String> left = new HashMap<>(winner);
        while (true) {
            for (Map.Entry<Integer, String> name : winner.entrySet()) {
                if (left.containsKey(name.getKey()) && holds(folder, name)) {
                    left.remove(name.getKey());
                }
            }
            if (left.isEmpty() || nanoClock.getAsLong() - began > patience.toNanos()) {
                return left.size();
            }
            LockSupport.parkNanos(POLL_NANOS);
        }
    }

    private boolean holds(Path folder, Map.Entry<Integer, String> name) throws IOException {
        Optional<byte[]> content = probe.read(folder.resolve(Helper.raced(name.getKey())));
        return content.isPresent() && new String(content.get(), StandardCharsets.UTF_8).equals(name.getValue());
    }
}
