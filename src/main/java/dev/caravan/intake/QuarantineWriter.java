package dev.caravan.intake;

import dev.caravan.jsonl.Flaw;
import dev.caravan.jsonl.Line;
import dev.caravan.jsonl.RecordWriter;
import dev.caravan.jsonl.Sha256;
import dev.caravan.jsonl.Tally;
import dev.caravan.shard.Manifest;
import dev.caravan.shard.Quarantined;
import dev.caravan.store.Disk;
import dev.caravan.store.DurableOutput;
import dev.caravan.store.Json;
import dev.caravan.store.Layout;
import java.io.Closeable;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** Sets bad lines aside in a stage: where each was and what is wrong with it, and the line itself. */
final class QuarantineWriter implements InputPass.BadLines, Closeable {
    private final Layout.Job stage;
    private @Nullable Pair files;

    private record Pair(OutputStream recordsFile, RecordWriter records, OutputStream linesFile, RecordWriter lines) {}

    QuarantineWriter(Layout.Job stage) {
        this.stage = stage;
    }

    @Override
    public void take(Path file, long record, Line line, Flaw flaw) throws IOException {
        write(
                new Quarantined(
                        record,
                        file.toString(),
                        line.number(),
                        line.offset(),
                        line.length(),
                        flaw.reason() + " (column " + (flaw.position() + 1) + ")",
                        Sha256.hex(line.buffer(), line.from(), line.to())),
                line.buffer(),
                line.from(),
                line.to());
    }

    void write(Quarantined quarantined, byte[] buffer, int from, int to) throws IOException {
        Pair open = files == null ? open() : files;
        byte[] record = Json.line(quarantined).getBytes(StandardCharsets.UTF_8);
        open.records.write(record, 0, record.length);
        open.lines.write(buffer, from, to);
    }

    private Pair open() throws IOException {
        Disk.createDirectories(stage.quarantine());
        OutputStream records = DurableOutput.create(stage.quarantinedRecords());
        OutputStream lines = DurableOutput.create(stage.quarantinedLines());
        files = new Pair(records, new RecordWriter(records), lines, new RecordWriter(lines));
        return files;
    }

    /** @return null if no line was set aside */
    Manifest.@Nullable Quarantine finish() throws IOException {
        if (files == null) {
            return null;
        }
        Manifest.Quarantine written = new Manifest.Quarantine(
                described(stage.quarantinedRecords(), files.records.tally()),
                described(stage.quarantinedLines(), files.lines.tally()));
        close();
        Disk.syncDirectory(stage.quarantine());
        return written;
    }

    private Manifest.File described(Path file, Tally tally) {
        return new Manifest.File(stage.relative(file), tally.rows(), tally.bytes(), tally.sha256());
    }

    @Override
    public void close() throws IOException {
        if (files != null) {
            try (OutputStream records = files.recordsFile;
                    OutputStream lines = files.linesFile) {
                files = null;
            }
        }
    }
}
