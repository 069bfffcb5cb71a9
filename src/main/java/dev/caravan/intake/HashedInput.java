package dev.caravan.intake;

import dev.caravan.jsonl.BackgroundDigest;
import dev.caravan.store.Disk;
import java.io.FilterInputStream;
import java.io.IOException;
import java.nio.file.Path;

/** An input file that is hashed while it is read. Only whole-buffer reads are supported. */
final class HashedInput extends FilterInputStream {
    private static final int BUFFER = 1 << 18;

    private final BackgroundDigest digest = new BackgroundDigest();
    private final ReadWatch watch;
    private long bytesRead;

    HashedInput(Path file, ReadWatch watch) throws IOException {
        super(Disk.open(file));
        this.watch = watch;
    }

    @Override
    public int read(byte[] b, int from, int length) throws IOException {
        int read = super.read(b, from, length);
        if (read > 0) {
            digest.update(b, from, read);
            watch.advance(read);
            bytesRead += read;
        }
        return read;
    }

    @Override
    public int read() {
        throw new UnsupportedOperationException("read into a buffer");
    }

    @Override
    public long skip(long bytes) {
        throw new UnsupportedOperationException("skipped bytes would not be hashed");
    }

    long bytesRead() {
        return bytesRead;
    }

    /** Hex, of all that was read; ends the hash. */
    String sha256() {
        return digest.hex();
    }

    @Override
    public void close() throws IOException {
        digest.close();
        super.close();
    }

    static String sha256Of(Path file, ReadWatch watch) throws IOException {
        try (HashedInput in = new HashedInput(file, watch)) {
            byte[] buffer = new byte[BUFFER];
            while (in.read(buffer, 0, buffer.length) >= 0) {}
            return in.sha256();
        }
    }
}
