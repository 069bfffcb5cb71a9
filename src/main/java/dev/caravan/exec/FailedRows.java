package dev.caravan.exec;

import dev.caravan.jsonl.JsonlCopy;
import dev.caravan.jsonl.RecordWriter;
import dev.caravan.jsonl.Tally;
import dev.caravan.lease.ClaimedShard;
import dev.caravan.shard.DoneRecord;
import dev.caravan.shard.Manifest;
import dev.caravan.shard.Poison;
import dev.caravan.shard.ShardId;
import dev.caravan.store.Disk;
import dev.caravan.store.JobFiles;
import dev.caravan.store.Json;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** The records of a job that the engine fails on: how many there may be, and the file of those of one attempt. */
final class FailedRows {
    private FailedRows() {}

    /** How many records may fail yet, over all that nodes have published so far. */
    static long allowance(ClaimedShard shard) throws IOException {
        Manifest manifest = shard.manifest();
        JobFiles job = shard.job();
        long failed = 0;
        for (ShardId done : job.doneShards()) {
            failed += job.done(done).map(record -> record.ledger().failed()).orElse(0L);
        }
        return manifest.policy().poison().allowed(manifest.totalRows()) - failed;
    }

    static AttemptFailed tooMany(Manifest manifest) {
        Poison poison = manifest.policy().poison();
        long allowed = poison.allowed(manifest.totalRows());
        String limit = allowed == poison.most()
                ? "policy.max_failed_records: " + allowed
                : "policy.max_failed_percent: " + poison.mostPercent() + " of " + manifest.totalRows();
        return AttemptFailed.forGood("the engine fails on more records of the job than are allowed (" + limit
                + "); failed-records.jsonl of this and other attempts tells why: correct recipe, program or records, or"
                + " allow more in a new job");
    }

    static void write(Path file, List<FailedRow> rows) throws IOException {
        Disk.writeWhole(file, out -> {
            RecordWriter writer = new RecordWriter(out);
            for (FailedRow row : rows) {
                byte[] line = Json.line(row).getBytes(StandardCharsets.UTF_8);
                writer.write(line, 0, line.length);
            }
            return writer.tally();
        });
    }

    /** What was set aside in an attempt, by the engine or by halving. */
    static Optional<Tally> of(ClaimedShard shard) throws IOException {
        Path file = shard.attempt().failedRecords();
        if (!shard.manifest().policy().poison().isolate() || !Disk.exists(file)) {
            return Optional.empty();
        }
        try (InputStream in = Disk.open(file)) {
            return Optional.of(JsonlCopy.verify(file.toString(), in));
        }
    }

    static DoneRecord.Failures failures(ClaimedShard shard, Tally tally) {
        return new DoneRecord.Failures(
                shard.job().layout().relative(shard.attempt().failedRecords()), tally.sha256());
    }
}
