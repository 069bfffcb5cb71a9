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
import dev.caravan.store.NewFile;
import dev.caravan.store.StoreException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Clock;
import java.util.List;
import java.util.Optional;

/**
 * Makes one file of the results, in manifest order. May be killed at any instruction and run again, here or elsewhere:
 * the file gets its name only once it is complete, and a file that is already this job's result is kept.
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
            requireFewFailures(manifest, results);
            Optional<AppendedRows> appended = AppendedRows.of(request.job().layout(), manifest);
            Concatenation all = new Concatenation(request.job().layout(), results, request.stillOwner());
            Optional<MergeRecord> before = recorded(request, results);
            if (before.isPresent()) {
                if (appended.isPresent() && !appended.get().isThere()) {
                    appended.get().write(output);
                }
                return before.get();
            }
            Tally tally = Disk.exists(output) && !request.overwrite()
                    ? adopt(output, all.expectedBytes(), () -> all.writeTo(Concatenation.Target.NONE))
                    : write(request, all);
            all.requireOwner();
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
    private static Optional<MergeRecord> recorded(MergeRequest request, List<DoneRecord> results) throws IOException {
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
                        && Disk.isFile(output)
                        && isFile(output, record.get().sizeBytes(), record.get().sha256())
                ? record
                : Optional.empty();
    }

    private static boolean isFile(Path output, long size, String sha256) throws IOException {
        return Disk.size(output) == size && new RawTally().of(output).sha256().equals(sha256);
    }

    private static Tally write(MergeRequest request, Concatenation all) throws IOException {
        Path output = request.output();
        String maker = maker(request.job());
        all.requireOwner();
        Disk.createDirectories(output.getParent());
        NewFile.removeAbandoned(output, maker);
        try (NewFile file = NewFile.beside(output, maker)) {
            Tally tally = all.writeTo(file::write);
            all.requireOwner();
            if (request.overwrite()) {
                file.replace();
            } else if (!file.publish()) {
                return adopt(output, tally.bytes(), () -> tally);
            }
            return tally;
        }
    }

    /** Names the job in temporary files beside its output. */
    public static String maker(JobFiles job) {
        return Sha256.hex(job.layout().path().toString().getBytes(StandardCharsets.UTF_8))
                .substring(0, 16);
    }

    @FunctionalInterface
    private interface Expected {
        Tally tally() throws IOException;
    }

    /**
     * Takes a file that exists for the result if it is the result: a merge was killed after the publication, or another
     * one was faster.
     *
     * @param expected asked only if the size is right
     */
    private static Tally adopt(Path output, long expectedBytes, Expected expected) throws IOException {
        long found = Disk.size(output);
        if (found != expectedBytes) {
            throw foreign(output, expectedBytes + " bytes, found " + found);
        }
        Tally tally = expected.tally();
        String sha256 = new RawTally().of(output).sha256();
        if (!sha256.equals(tally.sha256())) {
            throw foreign(output, "sha256 " + tally.sha256() + ", found " + sha256);
        }
        return tally;
    }

    private static MergeException foreign(Path output, String difference) {
        return new MergeException("the output " + output + " exists and is not this job's result (expected "
                + difference + "); move it away, choose another --output, or replace it with --overwrite");
    }
}
