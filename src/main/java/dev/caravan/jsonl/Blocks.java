package dev.caravan.jsonl;

import dev.caravan.CaravanException;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;

/**
 * Reads files in blocks and waits while too many of them are in use, so that memory follows the number of blocks and the
 * longest line and not the file. One thread reads; any may release.
 */
public final class Blocks {
    public static final int SIZE = 1 << 20;
    /** Longer lines are left to the reader of single lines. */
    private static final int LARGEST = 1 << 30;

    private final int most;
    private final Semaphore room;
    private final Queue<byte[]> spare = new ConcurrentLinkedQueue<>();

    /** @param most blocks in use at once */
    public Blocks(int most) {
        this.most = most;
        this.room = new Semaphore(most);
    }

    @FunctionalInterface
    public interface Taker {
        /** The block is the taker's to release. */
        void take(Block block) throws IOException;
    }

    /** A line does not fit into memory together with all else. */
    public static final class LongLineException extends CaravanException {
        LongLineException(String message) {
            super(message);
        }
    }

    /** Blocks of any content. @return how many bytes the file has */
    public long read(InputStream in, Taker taker) throws IOException {
        long offset = 0;
        while (true) {
            byte[] buffer = buffer();
            int read = in.readNBytes(buffer, 0, buffer.length);
            if (read == 0) {
                return offset;
            }
            taker.take(block(buffer, read, offset));
            offset += read;
        }
    }

    /** Blocks that end with a line. @return how many bytes the file has */
    public long readLines(InputStream in, Taker taker) throws IOException {
        byte[] buffer = buffer();
        int filled = 0;
        long offset = 0;
        while (true) {
            int read = in.readNBytes(buffer, filled, buffer.length - filled);
            boolean ended = read < buffer.length - filled;
            filled += read;
            int end = ended ? filled : behindLastLine(buffer, filled);
            if (end > 0) {
                byte[] next = ended ? null : following(buffer, end, filled);
                taker.take(block(buffer, end, offset));
                offset += end;
                if (next == null) {
                    return offset;
                }
                filled -= end;
                buffer = next;
            } else if (ended) {
                return offset;
            } else {
                buffer = larger(buffer);
            }
        }
    }

    /** A block that holds a copy of at most {@link #SIZE} bytes. It is the caller's to release. */
    Block copy(byte[] b, int from, int to) {
        byte[] buffer = buffer();
        System.arraycopy(b, from, buffer, 0, to - from);
        return block(buffer, to - from, 0);
    }

    private byte[] following(byte[] buffer, int from, int to) {
        byte[] next = to - from < SIZE ? buffer() : new byte[2 * (to - from)];
        System.arraycopy(buffer, from, next, 0, to - from);
        return next;
    }

    private byte[] buffer() {
        byte @Nullable [] used = spare.poll();
        return used == null ? new byte[SIZE] : used;
    }

    private Block block(byte[] buffer, int length, long offset) {
        int units = Math.min(most, (buffer.length + SIZE - 1) / SIZE);
        acquire(units);
        return new Block(buffer, length, offset, () -> {
            if (buffer.length == SIZE) {
                spare.add(buffer);
            }
            room.release(units);
        });
    }

    /** Waits until nobody uses a block any more. */
    public void awaitAll() {
        acquire(most);
        room.release(most);
    }

    private void acquire(int units) {
        try {
            room.acquire(units);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CaravanException("interrupted while others worked");
        }
    }

    private static byte[] larger(byte[] buffer) {
        if (buffer.length >= LARGEST) {
            throw new LongLineException("a line is longer than " + LARGEST + " bytes");
        }
        try {
            return Arrays.copyOf(buffer, buffer.length * 2);
        } catch (OutOfMemoryError e) {
            throw new LongLineException("a line of more than " + buffer.length + " bytes");
        }
    }

    private static int behindLastLine(byte[] b, int to) {
        int i = to;
        while (i > 0 && b[i - 1] != '\n') {
            i--;
        }
        return i;
    }
}
