package dev.caravan.jsonl;

import dev.caravan.CaravanException;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Cuts a source into lines. The rules, which hold wherever Caravan reads JSON Lines:
 *
 * <ul>
 *   <li>Only a line feed (0x0A) ends a line; U+2028, U+2029 and U+0085 are text.
 *   <li>One carriage return directly before the line feed, or before the end of the source, belongs to the line end.
 *   <li>A UTF-8 byte order mark at the start of the source is skipped; anywhere else it is not JSON.
 *   <li>The last line may lack its line feed.
 * </ul>
 *
 * The buffer grows to the longest line, so memory follows the record and not the source. Not thread-safe; the stream is
 * the caller's to close.
 */
public final class RecordReader {
    private static final int FIRST_SIZE = 1 << 18;
    private static final int LARGEST = Integer.MAX_VALUE - 8;

    private final String source;
    private final InputStream in;
    private byte[] buffer;
    private int next;
    private int end;
    private long bufferOffset;
    private long number;
    private boolean started;
    private boolean ended;

    /** @param source what errors call it: a path */
    public RecordReader(String source, InputStream in) {
        this(source, in, FIRST_SIZE);
    }

    RecordReader(String source, InputStream in, int firstSize) {
        this.source = source;
        this.in = in;
        this.buffer = new byte[firstSize];
    }

    /** The next line, blank ones included, or null at the end of the source. */
    public @Nullable Line next() throws IOException {
        if (!started) {
            started = true;
            skipByteOrderMark();
        }
        int from = next;
        int searched = from;
        while (true) {
            int lineFeed = LineFeeds.next(buffer, searched, end);
            if (lineFeed < end) {
                next = lineFeed + 1;
                return line(from, lineFeed, true);
            }
            int pending = end - from;
            if (ended || !fill(from)) {
                next = end;
                return pending == 0 ? null : line(next - pending, next, false);
            }
            from = next;
            searched = from + pending;
        }
    }

    private Line line(int from, int to, boolean terminated) {
        number++;
        int textEnd = to > from && buffer[to - 1] == '\r' ? to - 1 : to;
        return new Line(buffer, from, textEnd, number, bufferOffset + from, terminated);
    }

    private void skipByteOrderMark() throws IOException {
        while (end < 3 && !ended) {
            fill(0);
        }
        if (end >= 3 && buffer[0] == (byte) 0xEF && buffer[1] == (byte) 0xBB && buffer[2] == (byte) 0xBF) {
            next = 3;
        }
    }

    /** Moves the bytes from {@code keep} on to the front, sets {@code next} to them and reads more behind them. */
    private boolean fill(int keep) throws IOException {
        int kept = end - keep;
        if (kept == buffer.length) {
            grow();
        } else if (keep > 0) {
            System.arraycopy(buffer, keep, buffer, 0, kept);
            bufferOffset += keep;
        }
        next = 0;
        end = kept;
        int read = in.read(buffer, end, buffer.length - end);
        if (read < 0) {
            ended = true;
            return false;
        }
        end += read;
        return true;
    }

    private void grow() {
        if (buffer.length == LARGEST) {
            throw tooLong("a record may have at most " + LARGEST + " bytes", null);
        }
        try {
            buffer = Arrays.copyOf(buffer, (int) Math.min(LARGEST, buffer.length * 2L));
        } catch (OutOfMemoryError e) {
            throw tooLong("a buffer twice as large does not fit in the Java heap: raise -Xmx", e);
        }
    }

    private CaravanException tooLong(String why, @Nullable Throwable cause) {
        String message = source + ": line " + (number + 1) + " at byte " + bufferOffset + " goes on for more than "
                + buffer.length + " bytes; " + why + ", or split the line if it holds more than one record";
        return cause == null ? new CaravanException(message) : new CaravanException(message, cause);
    }
}
