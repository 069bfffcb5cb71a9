package dev.caravan.finalize;

import dev.caravan.store.Disk;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.List;

/**
 * Where two files part.
 *
 * @param offset of the first byte of a part that the whole does not have there
 * @param line of the part that holds the byte; the first is 1
 */
record FirstDifference(long offset, long line) {

    /** Of the file {@code part} and what {@code whole} has from {@code start} on. */
    static FirstDifference between(Path part, Path whole, long start) throws IOException {
        return between(part, List.of(whole), start);
    }

    /** @param whole files, one after the other */
    static FirstDifference between(Path part, List<Path> whole, long start) throws IOException {
        int file = 0;
        long skip = start;
        while (file < whole.size() - 1 && skip >= Disk.size(whole.get(file))) {
            skip -= Disk.size(whole.get(file++));
        }
        long offset = 0;
        long line = 1;
        try (InputStream in = open(part)) {
            for (; file < whole.size(); file++, skip = 0) {
                try (InputStream expected = open(whole.get(file))) {
                    expected.skipNBytes(skip);
                    for (int wanted = expected.read(); wanted >= 0; wanted = expected.read()) {
                        int found = in.read();
                        if (found != wanted) {
                            return new FirstDifference(offset, line);
                        }
                        offset++;
                        line += found == '\n' ? 1 : 0;
                    }
                }
            }
        }
        return new FirstDifference(offset, line);
    }

    private static InputStream open(Path file) throws IOException {
        return new BufferedInputStream(Disk.open(file), 1 << 16);
    }

    /** @param base added to the offset: where the part starts */
    String text(String from, long base) {
        return "; the first byte that differs from " + from + " is byte " + (base + offset) + ", in line " + line;
    }
}
