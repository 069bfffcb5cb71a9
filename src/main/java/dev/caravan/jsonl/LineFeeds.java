package dev.caravan.jsonl;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/** Finds and counts line ends, eight bytes at a time. */
public final class LineFeeds {
    private static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final long LINE_FEEDS = '\n' * 0x0101010101010101L;
    private static final long LOWS = 0x7F7F7F7F7F7F7F7FL;

    private LineFeeds() {}

    /** In the bytes from 0 up to, not including, {@code length}. */
    public static long count(byte[] b, int length) {
        long found = 0;
        int i = 0;
        for (; i + Long.BYTES <= length; i += Long.BYTES) {
            found += Long.bitCount(among(b, i));
        }
        for (; i < length; i++) {
            if (b[i] == '\n') {
                found++;
            }
        }
        return found;
    }

    /** The first one at or after {@code i}, or {@code to}. */
    static int next(byte[] b, int i, int to) {
        for (; i + Long.BYTES <= to; i += Long.BYTES) {
            long found = among(b, i);
            if (found != 0) {
                return i + (Long.numberOfTrailingZeros(found) >>> 3);
            }
        }
        while (i < to && b[i] != '\n') {
            i++;
        }
        return i;
    }

    /** The high bit of each of eight bytes that is a line feed. */
    private static long among(byte[] b, int i) {
        long word = (long) LONGS.get(b, i) ^ LINE_FEEDS;
        // the high bit of a byte of the sum is clear just where the byte is zero
        return ~(((word & LOWS) + LOWS) | word | LOWS);
    }
}
