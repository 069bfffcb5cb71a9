package dev.caravan.doctor;

import dev.caravan.store.Mount;
import dev.caravan.store.Probe;
import dev.caravan.store.Space;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/** What one process can find out alone, in a scratch folder of its own. */
final class HostChecks {
    private static final long MIB = 1024 * 1024;
    private static final long LEAST_BYTES = MIB;
    private static final long FEW_BYTES = 1024 * MIB;
    private static final long LEAST_INODES = 16;
    private static final long FEW_INODES = 10_000;
    private static final int WRITES = 20;
    private static final byte[] CONTENT = "caravan doctor\n".getBytes(StandardCharsets.US_ASCII);

    private final Probe probe;
    private final Path folder;

    HostChecks(Probe probe, Path folder) {
        this.probe = probe;
        this.folder = folder;
    }

    static Measured mount(Mount mount) {
        String options = String.join(",", mount.options());
        String measured = mount + (options.length() > 30 ? " " + options.substring(0, 30) + "..." : " " + options);
        return mount.isReadOnly()
                ? Measured.fail(Property.MOUNT, measured + ": mounted read-only")
                : Measured.ok(Property.MOUNT, measured);
    }

    static List<Measured> space(Space space) {
        List<Measured> found = new ArrayList<>();
        String bytes = space.bytes() < FEW_BYTES ? space.bytes() / 1024 + " KiB" : space.bytes() / MIB + " MiB";
        found.add(new Measured(Property.SPACE, bytes, grade(space.bytes(), LEAST_BYTES, FEW_BYTES)));
        Long inodes = space.inodes();
        found.add(
                inodes == null
                        ? Measured.ok(Property.INODES, "not counted here")
                        : new Measured(Property.INODES, inodes.toString(), grade(inodes, LEAST_INODES, FEW_INODES)));
        return found;
    }

    private static Grade grade(long found, long least, long few) {
        return found < least ? Grade.FAIL : found < few ? Grade.WARN : Grade.OK;
    }

    /** @param slowest the slowest of some durable writes as a claim needs them; filled in */
    Measured fsync(LongSupplier nanoClock, Duration[] slowest) {
        String directories = "";
        slowest[0] = Duration.ZERO;
        try {
            for (int i = 0; i < WRITES; i++) {
                long began = nanoClock.getAsLong();
                Path file = folder.resolve("synced-" + i);
                probe.create(file, CONTENT);
                try {
                    probe.syncDirectory(folder);
                } catch (IOException e) {
                    directories = "; directories cannot be synced (" + Reason.of(e) + ")";
                }
                Duration took = Duration.ofNanos(nanoClock.getAsLong() - began);
                slowest[0] = took.compareTo(slowest[0]) > 0 ? took : slowest[0];
                probe.delete(file);
            }
        } catch (IOException e) {
            return Measured.fail(Property.FSYNC, "a file cannot be written and synced: " + Reason.of(e));
        }
        String measured = "slowest of " + WRITES + " durable writes: " + slowest[0].toMillis() + " ms" + directories;
        return directories.isEmpty() ? Measured.ok(Property.FSYNC, measured) : Measured.warn(Property.FSYNC, measured);
    }

    /** Links and {@code O_EXCL}: one of them must work, and none that is used may lie. */
    List<Measured> exclusives() throws IOException {
        List<Measured> found = new ArrayList<>();
        Path file = folder.resolve("linked");
        Path name = folder.resolve("link");
        probe.create(file, CONTENT);
        boolean links = true;
        try {
            if (!probe.link(file, name)) {
                found.add(Measured.fail(Property.LINK, "a link to a name that is free was refused as taken"));
            } else {
                int count = probe.links(file);
                found.add(
                        probe.link(file, name)
                                ? Measured.fail(Property.LINK, "a second link to the same name succeeded (no EEXIST)")
                                : Measured.ok(Property.LINK, "the second gets EEXIST"));
                String measured = "st_nlink is " + count + " after link";
                found.add(
                        count == 2
                                ? Measured.ok(Property.LINK_COUNT, measured)
                                : Measured.warn(Property.LINK_COUNT, measured + ", expected 2"));
            }
        } catch (UnsupportedOperationException e) {
            links = false;
            found.add(Measured.warn(
                    Property.LINK, "no links here (" + Reason.of(e) + "): exclusive creation takes their place"));
        } catch (IOException e) {
            found.add(Measured.fail(Property.LINK, "a link failed: " + Reason.of(e)));
        }
        found.add(exclusiveCreate(links ? Grade.WARN : Grade.FAIL));
        return found;
    }

    private Measured exclusiveCreate(Grade ifBroken) {
        Path file = folder.resolve("created");
        try {
            if (!probe.create(file, CONTENT)) {
                return new Measured(Property.CREATE, "a name that is free was refused as taken", ifBroken);
            }
            return probe.create(file, CONTENT)
                    ? new Measured(Property.CREATE, "a second O_EXCL of the same name succeeded (no EEXIST)", ifBroken)
                    : Measured.ok(Property.CREATE, "the second gets EEXIST");
        } catch (IOException e) {
            return new Measured(Property.CREATE, "cannot create: " + Reason.of(e), ifBroken);
        }
    }

    /** One replacement; readers in other processes are measured by the long form. */
    Measured rename() {
        Path old = folder.resolve("old");
        Path next = folder.resolve("next");
        byte[] replacement = "replaced\n".getBytes(StandardCharsets.US_ASCII);
        try {
            probe.create(old, CONTENT);
            probe.create(next, replacement);
            probe.rename(next, old);
            Optional<byte[]> found = probe.read(old);
            return found.isPresent() && Arrays.equals(found.get(), replacement)
                    ? Measured.ok(Property.RENAME, "replaces a file")
                    : Measured.fail(Property.RENAME, "after a rename over a file the new content is not there");
        } catch (IOException e) {
            return Measured.fail(Property.RENAME, "a rename over a file failed: " + Reason.of(e));
        }
    }

    /** Beats set the time: it must be kept. */
    Measured timeStep() {
        Path file = folder.resolve("timed");
        FileTime asked = FileTime.from(1_000_000_000_123L, TimeUnit.MILLISECONDS);
        FileTime exact = FileTime.from(asked.toInstant().plusNanos(456_789));
        try {
            probe.create(file, CONTENT);
            probe.touch(file, exact);
            FileTime kept = probe.lastModified(file);
            Duration off = Duration.between(kept.toInstant(), exact.toInstant()).abs();
            if (off.compareTo(Duration.ofSeconds(5)) > 0) {
                return Measured.fail(Property.TIME_STEP, "a time that is set is not kept: a beat would not be seen");
            }
            String measured = "kept to " + step(off);
            return off.compareTo(Duration.ofSeconds(1)) > 0
                    ? Measured.warn(Property.TIME_STEP, measured)
                    : Measured.ok(Property.TIME_STEP, measured);
        } catch (IOException e) {
            return Measured.fail(Property.TIME_STEP, "the time of a file cannot be set: " + Reason.of(e));
        }
    }

    private static String step(Duration off) {
        if (off.isZero()) {
            return "1 ns";
        }
        long nanos = off.toNanos();
        return nanos < 1_000 ? "1 us" : nanos < 1_000_000 ? "1 ms" : nanos < 1_000_000_000 ? "1 s" : "2 s or more";
    }

    /** The file system's clock minus this host's, in milliseconds. */
    long clockOffset(Clock clock) throws IOException {
        Path file = folder.resolve("clock");
        long before = clock.millis();
        probe.create(file, CONTENT);
        long after = clock.millis();
        return probe.lastModified(file).toMillis() - (before + after) / 2;
    }
}
