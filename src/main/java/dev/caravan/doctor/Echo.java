package dev.caravan.doctor;

import dev.caravan.store.Disk;
import dev.caravan.store.Probe;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;

/**
 * Two processes in one folder: one shows a sign, the other shows the same sign once it sees it. What passes until the
 * first sees the answer is there and back again, by one clock; so clocks of two hosts are never compared.
 */
final class Echo {
    enum Sign {
        NAME_OPENED,
        NAME_LISTED,
        NAME_GONE,
        CONTENT,
        TIME,
        SIZE
    }

    private static final long POLL_NANOS = 2_000_000;
    private static final long FIRST_SECOND = 1_000_000_000;

    private final Probe probe;
    private final Path folder;
    private final LongSupplier nanoClock;
    private final int rounds;
    private final Duration limit;

    /** @param limit for one sign to be seen */
    Echo(Probe probe, Path folder, LongSupplier nanoClock, int rounds, Duration limit) {
        this.probe = probe;
        this.folder = folder;
        this.nanoClock = nanoClock;
        this.rounds = rounds;
        this.limit = limit;
    }

    /** The longest times, there and back. Ends at the first sign without an answer: it and those after it are missing. */
    Map<Sign, Duration> ask() throws IOException {
        Map<Sign, Duration> longest = new EnumMap<>(Sign.class);
        for (Sign sign : Sign.values()) {
            for (int round = 0; round < rounds; round++) {
                long began = nanoClock.getAsLong();
                show(sign, "asks", round);
                if (!await(sign, "answers", round)) {
                    longest.remove(sign);
                    return longest;
                }
                Duration passed = Duration.ofNanos(nanoClock.getAsLong() - began);
                longest.merge(sign, passed, (one, other) -> one.compareTo(other) > 0 ? one : other);
            }
        }
        return longest;
    }

    /** The other side. @return whether every sign was seen */
    boolean answer() throws IOException {
        for (Sign sign : Sign.values()) {
            for (int round = 0; round < rounds; round++) {
                if (!await(sign, "asks", round)) {
                    return false;
                }
                show(sign, "answers", round);
            }
        }
        return true;
    }

    private Path file(Sign sign, String side, int round) {
        return switch (sign) {
            case NAME_OPENED, NAME_GONE -> folder.resolve("name-" + round + "." + side);
            case NAME_LISTED -> folder.resolve("listed-" + round + "." + side);
            case CONTENT, TIME, SIZE -> folder.resolve(sign + "." + side);
        };
    }

    private static byte[] content(int round) {
        return ("round " + round + "\n").getBytes(StandardCharsets.US_ASCII);
    }

    private void show(Sign sign, String side, int round) throws IOException {
        Path file = file(sign, side, round);
        switch (sign) {
            case NAME_OPENED, NAME_LISTED -> probe.create(file, content(round));
            case NAME_GONE -> probe.delete(file);
            case CONTENT -> {
                Path next = folder.resolve("next." + side);
                probe.create(next, content(round));
                probe.rename(next, file);
            }
            case TIME -> {
                if (round == 0) {
                    probe.create(file, content(0));
                }
                probe.touch(file, FileTime.fromMillis(1000 * (FIRST_SECOND + 10L * round)));
            }
            case SIZE -> probe.append(file, new byte[] {'.'});
        }
    }

    private boolean await(Sign sign, String side, int round) throws IOException {
        long began = nanoClock.getAsLong();
        while (!isSeen(sign, side, round)) {
            if (nanoClock.getAsLong() - began > limit.toNanos()
                    || Thread.currentThread().isInterrupted()) {
                return false;
            }
            LockSupport.parkNanos(POLL_NANOS);
        }
        return true;
    }

    private boolean isSeen(Sign sign, String side, int round) throws IOException {
        try {
            return isThere(sign, side, round);
        } catch (IOException e) {
            if (!Disk.isStaleHandle(e)) {
                throw e;
            }
            return false; // looked at in the moment of the change
        }
    }

    private boolean isThere(Sign sign, String side, int round) throws IOException {
        Path file = file(sign, side, round);
        return switch (sign) {
            case NAME_OPENED -> probe.read(file).isPresent();
            case NAME_LISTED -> probe.list(folder).contains(file.getFileName().toString());
            case NAME_GONE -> probe.read(file).isEmpty();
            case CONTENT ->
                probe.read(file)
                        .filter(found -> Arrays.equals(found, content(round)))
                        .isPresent();
            case TIME ->
                probe.read(file).isPresent()
                        && Math.abs(probe.lastModified(file).toMillis() / 1000 - FIRST_SECOND - 10L * round) <= 2;
            case SIZE -> probe.size(file) == round + 1;
        };
    }
}
