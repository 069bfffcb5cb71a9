package dev.caravan.finalize;

import dev.caravan.shard.ControlRecord;
import dev.caravan.shard.MergeRecord;
import dev.caravan.shard.NodeIdentity;
import dev.caravan.store.Disk;
import dev.caravan.store.JobFiles;
import dev.caravan.store.Layout;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Removes what an ended job needs no more: its shards, attempts and checkpoints. Manifest, records, report and merged file stay. A
 * failed job keeps all, since it may be retried.
 */
public final class Cleanup {
    private final JobFiles job;
    private final Clock clock;

    public Cleanup(JobFiles job, Clock clock) {
        this.job = job;
        this.clock = clock;
    }

    /** What may be removed, or why nothing may. */
    public sealed interface Verdict {
        record Removable(String state, String endedAt, long bytes) implements Verdict {}

        record Kept(String why) implements Verdict {}
    }

    /** @param olderThan how long ago the job must have ended */
    public Verdict judge(Duration olderThan) throws IOException {
        Layout.Job layout = job.layout();
        if (job.isCleaned() && removable(layout).stream().noneMatch(Disk::exists)) {
            return new Verdict.Kept("cleaned before");
        }
        Optional<MergeRecord> merged = job.merged();
        Optional<ControlRecord> cancelled = job.cancelled();
        if (merged.isEmpty() && cancelled.isEmpty()) {
            return new Verdict.Kept("neither done nor cancelled");
        }
        String endedAt = merged.map(MergeRecord::mergedAt)
                .orElseGet(() -> cancelled.orElseThrow().at());
        if (Instant.parse(endedAt).plus(olderThan).isAfter(clock.instant())) {
            return new Verdict.Kept("ended at " + endedAt + " only");
        }
        if (merged.isPresent() && !isWhole(merged.get())) {
            return new Verdict.Kept("its output " + merged.get().output()
                    + " is not there any more as it was merged: the results in attempts/ may be the only ones");
        }
        long bytes = removable(layout).stream()
                .mapToLong(path -> Disk.treeSize(path.toString()))
                .sum();
        return new Verdict.Removable(merged.isPresent() ? "done" : "cancelled", endedAt, bytes);
    }

    private static boolean isWhole(MergeRecord merged) throws IOException {
        return OutputFiles.size(merged).equals(OptionalLong.of(merged.sizeBytes()));
    }

    /** Removes it. May be ended at any moment and run again. */
    public void remove(NodeIdentity who) throws IOException {
        Layout.Job layout = job.layout();
        // first, so that nobody takes what is gone for lost
        job.clean(new ControlRecord(who.id(), who.hostname(), clock.instant().toString()));
        for (Path path : removable(layout)) {
            Disk.deleteTree(path);
        }
    }

    private static List<Path> removable(Layout.Job layout) {
        return List.of(layout.shards(), layout.attempts(), layout.checkpoints());
    }
}
