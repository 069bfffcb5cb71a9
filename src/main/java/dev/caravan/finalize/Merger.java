package dev.caravan.finalize;

import dev.caravan.jsonl.Sha256;
import dev.caravan.jsonl.Tally;
import dev.caravan.shard.DoneRecord;
import dev.caravan.shard.Manifest;
import dev.caravan.shard.MergeRecord;
import dev.caravan.shard.MiniBatch;
import dev.caravan.store.Disk;
import dev.caravan.store.JobFiles;
import dev.caravan.store.Json;
import dev.caravan.store.StoreException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Clock;
import java.util.List;
import java.util.Optional;

/**
 * Makes one output of the results, in manifest order. May be killed at any instruction and run again, here or elsewhere:
 * the output gets its name only once it is complete, and one that is already this job's result is kept.
 */
public final class Merger {
    private final Clock clock;

    public Merger(Clock clock) {
        this.clock = clock;
    }

    /** @throws MergeException if the job is not complete, a result was changed, or the output may not be written */
    public MergeRecord merge(MergeRequest request) {
        Path output = request.output();
        try {
            Manifest manifest = request.job().manifest();
            if (request.job().isCancelled()) {
                throw new MergeException(
                        "the job " + request.job().layout().path() + " was cancelled: it is not merged");
            }
            if (request.job().isCleaned()) {
                throw new MergeException("the job " + request.job().layout().path()
                        + " was cleaned: its results were removed, the merged file is all there is");
            }
            OutputRules.check(output, request.job().layout(), manifest);
            List<DoneRecord> results = FinishedShards.of(request.job(), manifest);
            LedgerCheck.require(request.job().layout(), manifest, results);
            MergedOutput merged = MergedOutput.of(manifest.outputForm(), request, results);
            requireFewFailures(manifest, results);
            Optional<AppendedRows> appended = AppendedRows.of(request.job().layout(), manifest);
            Optional<MergeRecord> before = recorded(request, merged, results);
            if (before.isPresent()) {
                if (appended.isPresent() && !appended.get().isThere()) {
                    appended.get().write(output);
                }
                return before.get();
            }
            Tally tally = merged.make();
            Concatenation.requireOwner(request.job().layout(), request.stillOwner());
            if (appended.isPresent()) {
                appended.get().write(output);
            }
            MergeRecord record = MergeRecords.of(request, manifest, tally, results, clock.instant());
            Disk.replace(request.job().layout().mergeRecord(), Json.bytes(record));
            CheckpointRemoval.afterMerge(request.job().layout(), manifest);
            return record;
        } catch (IOException e) {
            throw new MergeException(
                    "cannot merge job " + request.job().layout().path() + " into " + output + ": " + e
                            + "; nothing half-written was left: correct the cause (free space, permissions, mount) and"
                            + " merge again",
                    e);
        }
    }

    /** Shards that were worked on at the same time did not know of each other's failures. */
    private static void requireFewFailures(Manifest manifest, List<DoneRecord> results) {
        MiniBatch options = manifest.execution().miniBatch();
        if (options != null) {
            options.exceeded(manifest.totalRows(), MiniBatch.Failed.of(results)).ifPresent(limit -> {
                throw new MergeException("nothing was merged, since more failed than the job allows: " + limit
                        + "; logs/user/error of the job tells why. A new job may allow more");
            });
        }
    }

    /** The record of an earlier merge, if the output is still what it says and made of the same results. */
    private static Optional<MergeRecord> recorded(MergeRequest request, MergedOutput merged, List<DoneRecord> results)
            throws IOException {
        Optional<MergeRecord> record;
        try {
            record = request.job().merged();
        } catch (StoreException unreadable) {
            return Optional.empty(); // it will be written anew
        }
        Path output = request.output();
        return record.isPresent()
                        && record.get().output().equals(output.toString())
                        && record.get().seal().equals(Seals.of(record.get().sealed("")))
                        && record.get()
                                .shards()
                                .equals(MergeRecords.parts(request.job().layout(), results))
                        && merged.isWhole(new Tally(
                                record.get().rows(),
                                record.get().sizeBytes(),
                                record.get().sha256()))
                ? record
                : Optional.empty();
    }

    /** Names the job in temporary files beside its output. */
    public static String maker(JobFiles job) {
        return Sha256.hex(job.layout().path().toString().getBytes(StandardCharsets.UTF_8))
                .substring(0, 16);
    }
}
