package dev.caravan.finalize;

import dev.caravan.finalize.Verification.Finding;
import dev.caravan.finalize.Verification.Step;
import dev.caravan.jsonl.BadJsonlException;
import dev.caravan.jsonl.JsonlCopy;
import dev.caravan.jsonl.Tally;
import dev.caravan.packing.DamagedException;
import dev.caravan.packing.Packing;
import dev.caravan.shard.ShardId;
import dev.caravan.store.Disk;
import dev.caravan.store.StoreException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** One step of a verification while it goes on. A file that cannot be read is a finding and never ends the step. */
final class Findings {
    static final int SHOWN = 20;

    private final String name;
    private final List<Finding> findings = new ArrayList<>();
    private long problems;

    Findings(String name) {
        this.name = name;
    }

    void add(@Nullable ShardId shard, Path file, String problem) {
        problems++;
        if (findings.size() < SHOWN) {
            findings.add(new Finding(shard, file.toString(), problem));
        }
    }

    /** Adds a finding if the two differ. @return whether they are equal */
    boolean same(@Nullable ShardId shard, Path file, String what, Object expected, Object found) {
        boolean same = expected.equals(found);
        if (!same) {
            add(shard, file, "expected " + what + " " + expected + ", found " + found);
        }
        return same;
    }

    @FunctionalInterface
    interface Reading {
        Tally tally() throws IOException;
    }

    /** @return the bytes' tally, or nothing if they could not be read */
    Optional<Tally> read(@Nullable ShardId shard, Path file, Reading reading) {
        try {
            if (!Disk.exists(file)) {
                add(shard, file, "expected a file, found none");
                return Optional.empty();
            }
            return Optional.of(reading.tally());
        } catch (IOException e) {
            add(shard, file, "cannot be read: " + e);
            return Optional.empty();
        }
    }

    /**
     * Compares what a file holds with what is recorded of it; shows the broken line if there is one.
     *
     * @param place asked where the damage is, once there is one
     */
    boolean tally(@Nullable ShardId shard, Path file, Tally expected, Tally found, Supplier<String> place) {
        if (expected.equals(found)) {
            return true;
        }
        add(
                shard,
                file,
                "expected " + Concatenation.text(expected) + ", found " + Concatenation.text(found) + brokenLine(file)
                        + place.get());
        return false;
    }

    /** A fact of the job, or nothing if it is not there or cannot be read, which {@code missing} describes. */
    <T> Optional<T> fact(@Nullable ShardId shard, Path file, Supplier<Optional<T>> reading, Supplier<String> missing) {
        try {
            Optional<T> fact = reading.get();
            if (fact.isEmpty()) {
                add(shard, file, missing.get());
            }
            return fact;
        } catch (StoreException e) {
            add(shard, file, String.valueOf(e.getMessage()));
            return Optional.empty();
        }
    }

    static String brokenLine(Path file) {
        try (InputStream in = Packing.of(file).open(file.toString(), Disk.open(file))) {
            JsonlCopy.verify(file.toString(), in);
            return "";
        } catch (BadJsonlException e) {
            return "; " + e.lines().get(0);
        } catch (DamagedException e) {
            return "; " + e.getMessage();
        } catch (IOException e) {
            return "";
        }
    }

    Step step(String summary) {
        return step(summary, null);
    }

    Step step(String summary, @Nullable String sha256) {
        return new Step(name, problems == 0, summary, sha256, problems, findings);
    }
}
