package dev.caravan.jsonl;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/** Finds the bytes that matter inside a JSON string, eight at a time. */
final class Strings {
    private static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final long ONES = 0x0101010101010101L;
    private static final long HIGHS = 0x8080808080808080L;
    private static final long QUOTES = '"' * ONES;
    private static final long BACKSLASHES = '\\' * ONES;
    private static final long SPACES = ' ' * ONES;

    private Strings() {}

    /** The first quote, backslash, control character or non-ASCII byte at or after {@code i}, or {@code to}. */
    static int skipPlain(byte[] b, int i, int to) {
        while (i + Long.BYTES <= to) {
            long word = (long) LONGS.get(b, i);
            // Of ASCII, only a byte of 0 gets its high bit by taking away 1; borrows reach only bytes after the first
            // hit.
            long quote = (word ^ QUOTES) - ONES;
            long backslash = (word ^ BACKSLASHES) - ONES;
            long hits = (quote | backslash | (word - SPACES) | word) & HIGHS;
            if (hits != 0) {
                return i + (Long.numberOfTrailingZeros(hits) >>> 3);
            }
            i += Long.BYTES;
        }
        while (i < to && b[i] >= ' ' && b[i] != '"' && b[i] != '\\') {
            i++;
        }
        return i;
    }

    /** The index behind the closing quote of a valid string whose opening quote is at {@code i}. */
    static int skipValid(byte[] b, int i, int to) {
        i = skipPlain(b, i + 1, to);
        while (b[i] != '"') {
            i = skipPlain(b, b[i] == '\\' ? i + 2 : i + 1, to);
        }
        return i + 1;
    }
}
