package dev.caravan.finalize;

import dev.caravan.jsonl.LineFeeds;
import dev.caravan.jsonl.Sha256;
import dev.caravan.jsonl.Tally;
import dev.caravan.store.Disk;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.HexFormat;

/** Counts and hashes bytes as they are, whatever they are; a row is a line feed. */
public final class RawTally {
    private static final int BUFFER = 1 << 18;

    private final byte[] buffer = new byte[BUFFER];

    public Tally of(Path file) throws IOException {
        return of(file, Sha256.digest());
    }

    /** @param all also given the bytes, to hash several files as one */
    Tally of(Path file, MessageDigest all) throws IOException {
        try (InputStream in = Disk.open(file)) {
            return next(in, Long.MAX_VALUE, all);
        }
    }

    /** Of the next {@code limit} bytes, or of fewer if the stream ends. */
    Tally next(InputStream in, long limit, MessageDigest all) throws IOException {
        MessageDigest digest = Sha256.digest();
        long rows = 0;
        long bytes = 0;
        while (bytes < limit) {
            int read = in.read(buffer, 0, (int) Math.min(BUFFER, limit - bytes));
            if (read < 0) {
                break;
            }
            digest.update(buffer, 0, read);
            all.update(buffer, 0, read);
            rows += LineFeeds.count(buffer, read);
            bytes += read;
        }
        return new Tally(rows, bytes, HexFormat.of().formatHex(digest.digest()));
    }
}
