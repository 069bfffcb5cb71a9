package dev.caravan.jsonl;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import org.jspecify.annotations.Nullable;

/** Streams a source of JSON Lines through the check of every record. */
public final class JsonlCopy {
    private JsonlCopy() {}

    /**
     * Copies all records of one source; the record's bytes stay as they are.
     *
     * @param source what errors call it: a path
     * @throws BadJsonlException at the first bad line; what was written before it stays written
     */
    public static Tally copy(String source, InputStream in, OutputStream out) throws IOException {
        RecordWriter writer = new RecordWriter(out);
        append(source, in, writer);
        return writer.tally();
    }

    /**
     * Adds all records of one source to what {@code out} already has: several sources become one.
     *
     * @return how many records were added
     */
    public static long append(String source, InputStream in, RecordWriter out) throws IOException {
        Records records = new Records(source, in);
        for (@Nullable Line record = records.next(); record != null; record = records.next()) {
            out.write(record);
        }
        return records.rows();
    }

    /** Counts and hashes a source as {@link #copy} would, without a copy. */
    public static Tally verify(String source, InputStream in) throws IOException {
        return copy(source, in, OutputStream.nullOutputStream());
    }
}
