package dev.caravan.finalize;

import dev.caravan.store.Disk;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;

/** Where two files part. */
final class FirstDifference {
    private FirstDifference() {}

    /** Offset in {@code part} of the first byte that {@code whole} does not have at {@code start} plus that offset. */
    static long between(Path part, Path whole, long start) throws IOException {
        try (InputStream a = new BufferedInputStream(Disk.open(part), 1 << 16);
                InputStream b = new BufferedInputStream(Disk.open(whole), 1 << 16)) {
            b.skipNBytes(start);
            long offset = 0;
            for (int expected = a.read(); expected >= 0 && expected == b.read(); expected = a.read()) {
                offset++;
            }
            return offset;
        }
    }
}
