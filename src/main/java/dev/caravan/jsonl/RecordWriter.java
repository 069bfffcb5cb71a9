package dev.caravan.jsonl;

import java.io.IOException;
import java.io.OutputStream;
import java.security.MessageDigest;
import java.util.HexFormat;

/**
 * Writes records, each with one line feed, and tallies them. Buffered; {@link #tally} flushes its own buffer. The stream
 * is the caller's to close. Not thread-safe.
 */
public final class RecordWriter {
    private static final int BUFFER = 1 << 18;

    private final OutputStream out;
    private final MessageDigest digest = Sha256.digest();
    private final byte[] buffer = new byte[BUFFER];
    private int filled;
    private long rows;
    private long bytes;

    public RecordWriter(OutputStream out) {
        this.out = out;
    }

    public void write(Line record) throws IOException {
        write(record.buffer(), record.from(), record.to());
    }

    public void write(byte[] record, int from, int to) throws IOException {
        int length = to - from;
        if (length >= BUFFER - filled) {
            drain();
        }
        if (length >= BUFFER) {
            emit(record, from, length);
        } else {
            System.arraycopy(record, from, buffer, filled, length);
            filled += length;
        }
        buffer[filled++] = '\n';
        rows++;
        bytes += length + 1L;
    }

    public long rows() {
        return rows;
    }

    /** Passes everything on to the stream. More may be written afterwards. */
    public Tally tally() throws IOException {
        drain();
        out.flush();
        try {
            MessageDigest soFar = (MessageDigest) digest.clone();
            return new Tally(rows, bytes, HexFormat.of().formatHex(soFar.digest()));
        } catch (CloneNotSupportedException e) {
            throw new IllegalStateException("the SHA-256 of this Java cannot be copied", e);
        }
    }

    private void drain() throws IOException {
        emit(buffer, 0, filled);
        filled = 0;
    }

    private void emit(byte[] b, int from, int length) throws IOException {
        digest.update(b, from, length);
        out.write(b, from, length);
    }
}
