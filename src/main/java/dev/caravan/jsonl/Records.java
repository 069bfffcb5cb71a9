package dev.caravan.jsonl;

import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The checked records of one source. Blank lines between records are an error, blank lines after the last record are
 * only counted, and a source without any line has no records. When a bad line is met, the lines behind it are looked
 * through for a few more, so that one error shows what kind of trouble it is. Not thread-safe.
 */
public final class Records {
    static final int SHOWN = 5;
    /** How far behind the first bad line others are looked for. */
    static final long LOOK_FURTHER = 64L << 20;

    private final String source;
    private final RecordReader reader;
    private final RecordCheck check = new RecordCheck();
    private long rows;
    private long blankLines;
    private @Nullable BadLine firstBlank;

    /** @param source what errors call it: a path */
    public Records(String source, InputStream in) {
        this.source = source;
        this.reader = new RecordReader(source, in);
    }

    /**
     * The next record, or null at the end; good until the next call.
     *
     * @throws BadJsonlException with the first bad lines
     */
    public @Nullable Line next() throws IOException {
        while (true) {
            Line line = reader.next();
            if (line == null) {
                return null;
            }
            if (line.isBlank()) {
                noteBlank(line);
                continue;
            }
            Optional<Flaw> flaw = check.check(line.buffer(), line.from(), line.to());
            if (flaw.isPresent() || firstBlank != null) {
                throw badLines(line, flaw);
            }
            rows++;
            return line;
        }
    }

    /** The error for a record that is sound JSON but not what its reader needs. */
    public BadJsonlException reject(Line line, Flaw flaw) {
        return new BadJsonlException(
                source, "holds records that cannot be used", List.of(BadLine.of(line, flaw)), false);
    }

    public long rows() {
        return rows;
    }

    /** Blank lines behind the last record; final only once {@link #next} has returned null. */
    public long blankLines() {
        return blankLines;
    }

    public long bytesRead() {
        return reader.bytesRead();
    }

    private void noteBlank(Line line) {
        blankLines++;
        if (firstBlank == null) {
            firstBlank = BadLine.of(line, new Flaw(0, "blank line between records; each line must be one JSON object"));
        }
    }

    private BadJsonlException badLines(Line first, Optional<Flaw> flawOfFirst) throws IOException {
        List<BadLine> bad = new ArrayList<>();
        long limit = first.offset() + LOOK_FURTHER;
        Line line = first;
        Optional<Flaw> flaw = flawOfFirst;
        while (line != null && bad.size() < SHOWN && line.offset() <= limit) {
            if (line.isBlank()) {
                noteBlank(line);
            } else {
                if (firstBlank != null) {
                    bad.add(firstBlank);
                    firstBlank = null;
                }
                Line current = line;
                flaw.ifPresent(found -> bad.add(BadLine.of(current, explained(current, found))));
            }
            line = reader.next();
            flaw = line == null ? Optional.empty() : check.check(line.buffer(), line.from(), line.to());
        }
        List<BadLine> shown = bad.subList(0, Math.min(bad.size(), SHOWN));
        return new BadJsonlException(
                source,
                "is not JSON Lines: expected one JSON object in UTF-8 on each line, found",
                shown,
                line == null && bad.size() == shown.size());
    }

    private static Flaw explained(Line line, Flaw flaw) {
        return line.terminated()
                ? flaw
                : new Flaw(
                        flaw.position(),
                        flaw.reason() + " (the file ends here without a line end: is it still being written?)");
    }
}
