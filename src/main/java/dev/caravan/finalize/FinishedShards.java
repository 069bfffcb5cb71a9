package dev.caravan.finalize;

import dev.caravan.shard.DoneRecord;
import dev.caravan.shard.FailedRecord;
import dev.caravan.shard.Manifest;
import dev.caravan.shard.ShardId;
import dev.caravan.store.Disk;
import dev.caravan.store.JobFiles;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The results of a job that is complete, in manifest order. */
final class FinishedShards {
    private static final int SHOWN = 10;

    private FinishedShards() {}

    /** @throws IncompleteException if a shard is not done, or a result is missing or of another size than its record says */
    static List<DoneRecord> of(JobFiles job, Manifest manifest) throws IOException {
        List<DoneRecord> results = new ArrayList<>();
        List<ShardId> unfinished = new ArrayList<>();
        for (Manifest.Shard shard : manifest.shards()) {
            job.done(shard.id()).ifPresentOrElse(results::add, () -> unfinished.add(shard.id()));
        }
        if (!unfinished.isEmpty()) {
            throw incomplete(job, unfinished, manifest.shards().size());
        }
        List<String> damaged = new ArrayList<>();
        for (DoneRecord result : results) {
            damage(job, result).ifPresent(damaged::add);
        }
        if (!damaged.isEmpty()) {
            throw new IncompleteException(damaged.size() + " of " + results.size() + " results of job "
                    + job.layout().path() + " are damaged" + (damaged.size() > SHOWN ? ", for example" : "") + ":\n  "
                    + String.join("\n  ", damaged.subList(0, Math.min(SHOWN, damaged.size())))
                    + "\nRestore these files, or run 'caravan retry --shard-id ID' to have them made again.");
        }
        return results;
    }

    private static IncompleteException incomplete(JobFiles job, List<ShardId> unfinished, int total) {
        List<FailedRecord> failed =
                unfinished.stream().map(job::failed).flatMap(Optional::stream).toList();
        String failures = failed.isEmpty()
                ? "; wait for them, 'caravan status' shows where they are"
                : "; " + failed.size() + " failed for good, for example "
                        + failed.get(0).shardId() + ": " + failed.get(0).summary()
                        + "; correct the cause and run 'caravan retry'";
        return new IncompleteException("job " + job.layout().path() + " is not complete: expected " + total
                + " done shards, found " + (total - unfinished.size()) + ", missing for example "
                + unfinished.get(0) + failures);
    }

    private static Optional<String> damage(JobFiles job, DoneRecord result) throws IOException {
        var file = job.layout().resolve(result.outputPath());
        if (!Disk.isFile(file)) {
            return Optional.of(result.shardId() + ": expected the result " + file + ", found no such file");
        }
        long size = Disk.size(file);
        return size == result.sizeBytes()
                ? Optional.empty()
                : Optional.of(
                        result.shardId() + ": " + file + ": expected " + result.sizeBytes() + " bytes, found " + size);
    }
}
