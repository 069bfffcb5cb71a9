package dev.caravan.intake;

import dev.caravan.jsonl.Line;
import dev.caravan.jsonl.RecordReader;
import dev.caravan.jsonl.Sha256;
import dev.caravan.shard.Quarantined;
import dev.caravan.store.Disk;
import dev.caravan.store.Json;
import dev.caravan.store.Layout;
import java.io.BufferedInputStream;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** The quarantined lines of a job in their order, each with what it is to be now. */
final class RepairReader implements Closeable {
    /** @param repaired null if the line stays quarantined; good only until the next is asked for */
    record Repair(
            Quarantined quarantined,
            byte[] original,
            @Nullable Line repaired) {}

    private final Layout.Job job;
    private final InputStream recordsFile;
    private final InputStream originals;
    private final InputStream repairedFile;
    private final RecordReader records;
    private final RecordReader repaired;

    /** @param repairedLines as many as the job has quarantined lines */
    RepairReader(Layout.Job job, Path repairedLines) throws IOException {
        this.job = job;
        this.recordsFile = Disk.open(job.quarantinedRecords());
        this.originals = new BufferedInputStream(Disk.open(job.quarantinedLines()));
        this.repairedFile = Disk.open(repairedLines);
        this.records = new RecordReader(job.quarantinedRecords().toString(), recordsFile);
        this.repaired = new RecordReader(repairedLines.toString(), repairedFile);
    }

    /** Null behind the last. */
    @Nullable
    Repair next() throws IOException {
        Line record = records.next();
        Line line = repaired.next();
        if (record == null || line == null) {
            return null;
        }
        byte[] json = Arrays.copyOfRange(record.buffer(), record.from(), record.to());
        Quarantined quarantined = Json.parse(json, Quarantined.class);
        return new Repair(quarantined, original(quarantined), line.isBlank() ? null : line);
    }

    /** Read by its length: it may hold what would be part of a line end. */
    private byte[] original(Quarantined quarantined) throws IOException {
        byte[] original = originals.readNBytes((int) quarantined.length());
        if (originals.read() != '\n' || !Sha256.hex(original).equals(quarantined.sha256())) {
            throw new IntakeException(job.quarantinedLines() + " was changed: expected line " + quarantined.line()
                    + " of " + quarantined.file() + ", " + quarantined.length() + " bytes, sha256 "
                    + quarantined.sha256() + ", found something else. Restore it; repairs belong in a copy");
        }
        return original;
    }

    @Override
    public void close() throws IOException {
        try (recordsFile;
                originals;
                repairedFile) {}
    }
}
