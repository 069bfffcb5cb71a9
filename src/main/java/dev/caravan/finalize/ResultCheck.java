package dev.caravan.finalize;

import dev.caravan.finalize.Verification.Step;
import dev.caravan.jsonl.Sha256;
import dev.caravan.jsonl.Tally;
import dev.caravan.shard.DoneRecord;
import dev.caravan.shard.FailedRecord;
import dev.caravan.shard.Manifest;
import dev.caravan.shard.MergeRecord;
import dev.caravan.shard.ShardId;
import dev.caravan.store.JobFiles;
import dev.caravan.store.StoreException;
import java.io.IOException;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Whether each shard is done, and its result is what its record says. */
final class ResultCheck {
    private final JobFiles job;
    private final Manifest manifest;
    private final Findings findings = new Findings("results");
    private final RawTally raw = new RawTally();
    private final MessageDigest all = Sha256.digest();
    private final List<DoneRecord> records = new ArrayList<>();
    private final Map<ShardId, Path> intactFiles = new HashMap<>();
    private Optional<Tally> concatenation = Optional.empty();
    private long rows;
    private long bytes;

    ResultCheck(JobFiles job, Manifest manifest) {
        this.job = job;
        this.manifest = manifest;
    }

    Step check() {
        boolean intact = true;
        for (Manifest.Shard shard : manifest.shards()) {
            Path file = job.layout().done(shard.id());
            Optional<DoneRecord> record =
                    findings.fact(shard.id(), file, () -> job.done(shard.id()), () -> notDone(shard.id()));
            record.ifPresent(records::add);
            intact &= record.isPresent() && check(shard, record.get());
        }
        if (intact) {
            concatenation = Optional.of(new Tally(rows, bytes, HexFormat.of().formatHex(all.digest())));
        }
        return findings.step(
                records.size() + " of " + manifest.shards().size() + " shards done, " + rows + " rows, " + bytes
                        + " bytes; " + MergeRecords.ledger(records),
                concatenation.map(Tally::sha256).orElse(null));
    }

    private String notDone(ShardId shard) {
        return "expected a done record, found none"
                + job.failed(shard)
                        .map(FailedRecord::summary)
                        .map(summary -> "; the shard failed for good: " + summary)
                        .orElse("");
    }

    private boolean check(Manifest.Shard shard, DoneRecord record) {
        Path recorded = job.layout().done(shard.id());
        Path file;
        try {
            file = job.layout().resolve(record.outputPath());
        } catch (StoreException e) {
            findings.add(shard.id(), recorded, String.valueOf(e.getMessage()));
            return false;
        }
        boolean same = findings.same(shard.id(), recorded, "shard_id", shard.id(), record.shardId());
        Optional<String> trouble = LedgerCheck.trouble(shard, record);
        trouble.ifPresent(text -> findings.add(shard.id(), recorded, text));
        same &= trouble.isEmpty() & failures(shard.id(), record);
        Optional<Tally> found = findings.read(shard.id(), file, () -> raw.of(file, all));
        if (found.isEmpty()) {
            return false;
        }
        rows += found.get().rows();
        bytes += found.get().bytes();
        Tally expected = new Tally(record.rows(), record.sizeBytes(), record.sha256());
        if (findings.tally(shard.id(), file, expected, found.get(), () -> firstDifference(shard.id(), file)) && same) {
            intactFiles.put(shard.id(), file);
            return true;
        }
        return false;
    }

    /** Whether the file of the records that were set aside is what the done record says. */
    private boolean failures(ShardId shard, DoneRecord record) {
        DoneRecord.@Nullable Failures failures = record.failures();
        if (failures == null) {
            return true;
        }
        Path file = job.layout().resolve(failures.path());
        Optional<Tally> found = findings.read(shard, file, () -> raw.of(file));
        return found.isPresent()
                && findings.same(
                        shard,
                        file,
                        "failed records",
                        record.ledger().failed(),
                        found.get().rows())
                && findings.same(
                        shard, file, "sha256", failures.sha256(), found.get().sha256());
    }

    /** Known where the merged file still has the bytes. */
    private String firstDifference(ShardId shard, Path file) {
        try {
            Optional<MergeRecord> merged = job.merged();
            if (merged.isPresent()) {
                Path output = Path.of(merged.get().output());
                long start = 0;
                for (MergeRecord.Part part : merged.get().shards()) {
                    if (part.id().equals(shard)) {
                        return FirstDifference.between(file, output, start).text("the merged file", 0);
                    }
                    start += part.bytes();
                }
            }
        } catch (IOException | StoreException unreadable) {
            return "";
        }
        return "";
    }

    /** The result of a shard, if it is what its record says. */
    Optional<Path> intact(ShardId shard) {
        return Optional.ofNullable(intactFiles.get(shard));
    }

    /** Of the shards that are done, in manifest order; after {@link #check}. */
    List<DoneRecord> records() {
        return List.copyOf(records);
    }

    /** Of all results one after the other, as read from their files; nothing if one is missing or damaged. */
    Optional<Tally> concatenation() {
        return concatenation;
    }
}
