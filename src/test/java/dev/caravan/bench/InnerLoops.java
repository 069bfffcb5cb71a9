package dev.caravan.bench;

import dev.caravan.jsonl.JsonlCopy;
import dev.caravan.jsonl.LineFeeds;
import dev.caravan.jsonl.RecordCheck;
import dev.caravan.jsonl.Sha256;
import dev.caravan.jsonl.Tally;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/** The loops that go over every byte of the input, each over the same records in memory. Named as the table has them. */
@State(Scope.Thread)
public class InnerLoops {
    static final int MEGABYTES = 4;

    private final RecordCheck check = new RecordCheck();
    private byte[] records = {};

    @Setup
    public void load() throws IOException {
        Path file = Files.createTempFile("records", ".jsonl");
        records = Files.readAllBytes(WebRecords.write(file, MEGABYTES));
        Files.delete(file);
    }

    /** What all others are compared with. */
    @Benchmark
    public String sha256() {
        return Sha256.hex(records);
    }

    /** As prepare does where shards are ranges. */
    @Benchmark
    public int check() {
        int rows = 0;
        for (int line = 0; line < records.length; rows++) {
            int behind = check.skip(records, line, records.length);
            if (behind < 0 || records[behind] != '\n') {
                throw new IllegalStateException("not a record at " + line);
            }
            line = behind + 1;
        }
        return rows;
    }

    /** As merge does. */
    @Benchmark
    public long countLines() {
        return LineFeeds.count(records, records.length);
    }

    /** As each attempt does with its result: every record checked, copied and hashed. */
    @Benchmark
    public Tally checkCopyAndHash() throws IOException {
        return JsonlCopy.copy("records", new ByteArrayInputStream(records), OutputStream.nullOutputStream());
    }
}
