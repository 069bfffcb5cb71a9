package dev.caravan.packing;

import java.io.IOException;
import java.io.InputStream;

/** A packed source that is unpacked while it is read: one or more parts, each complete in itself, one behind the other. */
abstract class UnpackedText extends InputStream {
    private final String source;
    private final InputStream packed;
    /** Packed bytes that were read and not yet unpacked: those from {@code from} up to, not including, {@code to}. */
    final byte[] buffer = new byte[1 << 16];

    int from;
    int to;
    private long bufferOffset;
    private long unpackedBytes;
    private boolean inPart;

    UnpackedText(String source, InputStream packed) {
        this.source = source;
        this.packed = packed;
    }

    /** Reads what comes before the text of a part, whose first byte is there. */
    abstract void startPart() throws IOException;

    /** Unpacks some bytes of a part; 0 if the part ended, and then what follows the text has been read too. */
    abstract int unpack(byte[] b, int offset, int length) throws IOException;

    @Override
    public final int read(byte[] b, int offset, int length) throws IOException {
        if (length == 0) {
            return 0;
        }
        while (inPart || hasMore()) {
            if (!inPart) {
                startPart();
                inPart = true;
            }
            int unpacked = unpack(b, offset, length);
            if (unpacked > 0) {
                unpackedBytes += unpacked;
                return unpacked;
            }
            inPart = false;
        }
        return -1;
    }

    @Override
    public final int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xFF;
    }

    /** Whether there is another packed byte; reads more if none is left in the buffer. */
    final boolean hasMore() throws IOException {
        if (from < to) {
            return true;
        }
        bufferOffset += to;
        from = 0;
        to = Math.max(0, packed.read(buffer, 0, buffer.length));
        return to > 0;
    }

    /** The next packed byte, which must be there. */
    final int next() throws IOException {
        requireMore();
        return buffer[from++] & 0xFF;
    }

    final void requireMore() throws IOException {
        if (!hasMore()) {
            throw endsEarly();
        }
    }

    final DamagedException endsEarly() {
        return damaged("the compressed data end early");
    }

    /** Whether this is the first part of the source. */
    final boolean isFirst() {
        return unpackedBytes == 0 && bufferOffset == 0;
    }

    final DamagedException damaged(String what) {
        return new DamagedException(source, bufferOffset + from, unpackedBytes, what);
    }

    @Override
    public void close() throws IOException {
        packed.close();
    }
}
