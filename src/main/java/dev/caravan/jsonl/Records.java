package dev.caravan.jsonl;

import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The checked records of one source. Blank lines are no records and are only counted; a source without any line has no
 * records. A bad line is an error, unless somebody takes such lines; then the lines behind it are looked through for a
 * few more, so that one error shows what kind of trouble it is. Not thread-safe.
 */
public final class Records {
    static final int SHOWN = 5;
    /** How far behind the first bad line others are looked for. */
    static final long LOOK_FURTHER = 64L << 20;

    /** Takes lines that are not records. The line is good only during the call. */
    @FunctionalInterface
    public interface BadLines {
        void take(Line line, Flaw flaw) throws IOException;
    }

    private final String source;
    private final RecordReader reader;
    private final @Nullable BadLines badLines;
    private final RecordCheck check = new RecordCheck();
    private long rows;
    private long blankLines;

    /** @param source what errors call it: a path */
    public Records(String source, InputStream in) {
        this(source, in, null);
    }

    /** @param badLines null makes the first bad line an error */
    public Records(String source, InputStream in, @Nullable BadLines badLines) {
        this.source = source;
        this.reader = new RecordReader(source, in);
        this.badLines = badLines;
    }

    /**
     * The next record, or null at the end; good until the next call.
     *
     * @throws BadJsonlException with the first bad lines, if nobody takes them
     */
    public @Nullable Line next() throws IOException {
        for (Line line = reader.next(); line != null; line = reader.next()) {
            if (line.isBlank()) {
                blankLines++;
                continue;
            }
            Optional<Flaw> flaw = check.check(line.buffer(), line.from(), line.to());
            if (flaw.isEmpty()) {
                rows++;
                return line;
            }
            if (badLines == null) {
                throw badLines(line, flaw.get());
            }
            badLines.take(line, explained(line, flaw.get()));
        }
        return null;
    }

    /**
     * The record that {@link #next} returned is sound JSON but not what its reader needs: a bad line all the same.
     *
     * @throws BadJsonlException if nobody takes bad lines
     */
    public void reject(Line line, Flaw flaw) throws IOException {
        if (badLines == null) {
            throw new BadJsonlException(
                    source, "holds records that cannot be used", List.of(BadLine.of(line, flaw)), false);
        }
        rows--;
        badLines.take(line, flaw);
    }

    /** Whether the record that {@link #next} returned, or an object in it, has a key twice. */
    public boolean repeatsKey() {
        return check.repeatsKey();
    }

    public long rows() {
        return rows;
    }

    /** Final only once {@link #next} has returned null. */
    public long blankLines() {
        return blankLines;
    }

    private BadJsonlException badLines(Line first, Flaw flawOfFirst) throws IOException {
        List<BadLine> bad = new ArrayList<>();
        long limit = first.offset() + LOOK_FURTHER;
        Line line = first;
        Optional<Flaw> flaw = Optional.of(flawOfFirst);
        while (line != null && bad.size() < SHOWN && line.offset() <= limit) {
            Line current = line;
            flaw.ifPresent(found -> bad.add(BadLine.of(current, explained(current, found))));
            line = reader.next();
            flaw = line == null || line.isBlank()
                    ? Optional.empty()
                    : check.check(line.buffer(), line.from(), line.to());
        }
        return new BadJsonlException(
                source, "is not JSON Lines: expected one JSON object in UTF-8 on each line, found", bad, line == null);
    }

    private static Flaw explained(Line line, Flaw flaw) {
        return line.terminated()
                ? flaw
                : new Flaw(
                        flaw.position(),
                        flaw.reason() + " (the file ends here without a line end: is it still being written?)");
    }
}
