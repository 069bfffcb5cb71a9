package dev.caravan.finalize;

import dev.caravan.finalize.Verification.Step;
import dev.caravan.jsonl.Sha256;
import dev.caravan.jsonl.Tally;
import dev.caravan.shard.DoneRecord;
import dev.caravan.shard.FailedRecord;
import dev.caravan.shard.Manifest;
import dev.caravan.shard.ShardId;
import dev.caravan.store.JobFiles;
import dev.caravan.store.StoreException;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;

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
        return findings.step(records.size() + " of " + manifest.shards().size() + " shards done, " + rows + " rows, "
                + bytes + " bytes");
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
        boolean same = findings.same(shard.id(), recorded, "shard_id", shard.id(), record.shardId())
                & findings.same(shard.id(), recorded, "rows_in", shard.rows(), record.rowsIn());
        Optional<Tally> found = findings.read(shard.id(), file, () -> raw.of(file, all));
        if (found.isEmpty()) {
            return false;
        }
        rows += found.get().rows();
        bytes += found.get().bytes();
        Tally expected = new Tally(record.rows(), record.sizeBytes(), record.sha256());
        if (findings.tally(shard.id(), file, expected, found.get()) && same) {
            intactFiles.put(shard.id(), file);
            return true;
        }
        return false;
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
