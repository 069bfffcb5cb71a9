package dev.caravan.intake;

import dev.caravan.jsonl.BadLine;
import dev.caravan.jsonl.Line;
import dev.caravan.jsonl.RecordCheck;
import dev.caravan.jsonl.RecordReader;
import dev.caravan.jsonl.RecordWriter;
import dev.caravan.jsonl.Tally;
import dev.caravan.store.Disk;
import dev.caravan.store.DurableOutput;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The lines that somebody repaired: for each quarantined line, in their order, a record or a blank line. */
final class RepairedLines {
    private static final int SHOWN = 5;

    private RepairedLines() {}

    /**
     * Copies the lines, each with one line feed, so that the job keeps them whatever becomes of the file.
     *
     * @param expected how many there must be
     * @throws IntakeException with the first lines that are neither blank nor records
     */
    static Tally copy(Path file, Path target, long expected) throws IOException {
        List<String> bad = new ArrayList<>();
        RecordCheck check = new RecordCheck();
        boolean repaired = false;
        try (InputStream in = Disk.open(file);
                OutputStream out = DurableOutput.create(target)) {
            RecordReader reader = new RecordReader(file.toString(), in);
            RecordWriter writer = new RecordWriter(out);
            for (Line line = reader.next(); line != null; line = reader.next()) {
                writer.write(line);
                if (!line.isBlank()) {
                    repaired = true;
                    Line current = line;
                    check.check(line.buffer(), line.from(), line.to())
                            .filter(flaw -> bad.size() < SHOWN)
                            .ifPresent(flaw -> bad.add(BadLine.of(current, flaw).toString()));
                }
            }
            refuse(file, writer.rows(), expected, bad);
            if (!repaired) {
                throw new IntakeException("no line of " + file + " is repaired: all are blank");
            }
            return writer.tally();
        }
    }

    private static void refuse(Path file, long found, long expected, List<String> bad) {
        if (found != expected) {
            throw new IntakeException(file + " must have a line for each quarantined one, in their order: expected "
                    + expected + " lines, found " + found
                    + "; begin with a copy of quarantine/lines.txt and leave a line blank that cannot be repaired");
        }
        if (!bad.isEmpty()) {
            throw new IntakeException(file + " holds lines that are no records still; the first are:\n  "
                    + String.join("\n  ", bad) + "\nRepair them, or leave them blank: they stay quarantined then");
        }
    }
}
