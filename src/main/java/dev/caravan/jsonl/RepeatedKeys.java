package dev.caravan.jsonl;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Whether an object of a record has a key twice. Keys are hashed as they pass and compared when their object ends, so
 * that an object of very many keys costs little more than its share. Not thread-safe.
 */
final class RepeatedKeys {
    private static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final long MIX = 0x9E3779B97F4A7C15L;
    /** So many keys are compared with one another sooner than they are sorted. */
    private static final int FEW = 8;

    private static final long PLACE = 0xFFFFFFFFL;

    /** Of all objects that are open, the hash in the upper half and the place of the opening quote in the lower. */
    private long[] keys = new long[64];

    private int count;
    private boolean found;

    void begin() {
        count = 0;
        found = false;
    }

    boolean found() {
        return found;
    }

    /** At the start of an object. @return what {@link #close} needs to know */
    int open() {
        return count;
    }

    /** @param from of the opening quote, {@code to} behind the closing one */
    void add(byte[] b, int from, int to, boolean escaped) {
        if (count == keys.length) {
            keys = Arrays.copyOf(keys, 2 * count);
        }
        keys[count++] = (escaped ? hashOfText(b, from, to) : hash(b, from + 1, to - 1)) & ~PLACE | from;
    }

    /** At the end of an object, its inner objects closed before. @param first what {@link #open} said */
    void close(byte[] b, int first) {
        if (count - first > FEW) {
            Arrays.sort(keys, first, count);
        }
        found = found || (count - first > FEW ? hasEqualNeighbours(b, first) : hasEqual(b, first));
        count = first;
    }

    private boolean hasEqual(byte[] b, int first) {
        for (int i = first + 1; i < count; i++) {
            for (int k = first; k < i; k++) {
                if (areEqual(b, keys[i], keys[k])) {
                    return true;
                }
            }
        }
        return false;
    }

    /** Of sorted keys: those of one hash are neighbours. */
    private boolean hasEqualNeighbours(byte[] b, int first) {
        for (int i = first + 1; i < count; i++) {
            for (int k = i - 1; k >= first && sameHash(keys[i], keys[k]); k--) {
                if (areEqual(b, keys[i], keys[k])) {
                    return true;
                }
            }
        }
        return false;
    }

    private static boolean sameHash(long a, long b) {
        return (a ^ b) >>> 32 == 0;
    }

    private static boolean areEqual(byte[] b, long one, long other) {
        return sameHash(one, other) && text(b, one).equals(text(b, other));
    }

    private static String text(byte[] b, long key) {
        int open = (int) (key & PLACE);
        return JsonText.unescaped(b, open + 1, Strings.skipValid(b, open, b.length) - 1);
    }

    private static long hashOfText(byte[] b, int from, int to) {
        byte[] text = JsonText.unescaped(b, from + 1, to - 1).getBytes(StandardCharsets.UTF_8);
        return hash(text, 0, text.length);
    }

    private static long hash(byte[] b, int from, int to) {
        long hash = to - from;
        int i = from;
        for (; i + Long.BYTES <= to; i += Long.BYTES) {
            hash = (hash ^ (long) LONGS.get(b, i)) * MIX;
            hash ^= hash >>> 32;
        }
        if (i < to) {
            hash = (hash ^ rest(b, i, to)) * MIX;
        }
        return hash;
    }

    /** Fewer than eight bytes. */
    private static long rest(byte[] b, int from, int to) {
        if (from + Long.BYTES <= b.length) {
            return (long) LONGS.get(b, from) << 8 * (from + Long.BYTES - to);
        }
        long rest = 0;
        for (int i = to; i > from; i--) {
            rest = rest << 8 | b[i - 1] & 0xFF;
        }
        return rest << 8 * (from + Long.BYTES - to);
    }
}
