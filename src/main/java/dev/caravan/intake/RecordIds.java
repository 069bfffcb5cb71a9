package dev.caravan.intake;

import dev.caravan.jsonl.Sha256;
import dev.caravan.store.Disk;
import dev.caravan.store.LocalFolder;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Finds ids that repeat. Of each it keeps a fingerprint and the place, in parts by the fingerprint: those that memory
 * has no room for lie in files on this node's disk, and one part at a time is looked through. Thread-safe.
 */
final class RecordIds implements AutoCloseable {
    private static final int PARTS = 64;
    private static final int LONGS = 3; // of an entry: two of the fingerprint, the place
    private static final int LINE_BITS = 40;

    private final Path scratch;
    private final int entriesInMemory;
    private final Part[] parts = new Part[PARTS];
    private final List<Path> files = new ArrayList<>();
    private @Nullable LocalFolder folder;

    /** @param scratch folder on a disk of this node */
    RecordIds(Path scratch) {
        this(scratch, 8192);
    }

    /** @param entriesInMemory of each part */
    RecordIds(Path scratch, int entriesInMemory) {
        this.scratch = scratch;
        this.entriesInMemory = entriesInMemory;
        Arrays.setAll(parts, Part::new);
    }

    record Place(Path file, long line) {}

    record Repeated(Place first, Place again) {}

    /** Ids that follow are from this file. */
    void begin(Path file) {
        if (files.isEmpty() || !files.get(files.size() - 1).equals(file)) {
            files.add(file);
        }
    }

    void add(byte[] id, long line) {
        ByteBuffer fingerprint = ByteBuffer.wrap(Sha256.digest().digest(id));
        long high = fingerprint.getLong();
        long place = (long) (files.size() - 1) << LINE_BITS | line;
        parts[(int) (high & PARTS - 1)].add(high, fingerprint.getLong(), place);
    }

    /** The first place, in the order of the files, where an id stands again. */
    Optional<Repeated> repeated() throws IOException {
        long[] found = null;
        for (Part part : parts) {
            long[] here = part.repeated();
            if (here != null && (found == null || here[1] < found[1])) {
                found = here;
            }
        }
        return found == null ? Optional.empty() : Optional.of(new Repeated(place(found[0]), place(found[1])));
    }

    private Place place(long place) {
        return new Place(files.get((int) (place >>> LINE_BITS)), place & (1L << LINE_BITS) - 1);
    }

    private synchronized LocalFolder folder() throws IOException {
        if (folder == null) {
            folder = LocalFolder.in(scratch);
        }
        return folder;
    }

    @Override
    public void close() throws IOException {
        for (Part part : parts) {
            part.close();
        }
        if (folder != null) {
            folder.close();
        }
    }

    /** The ids whose fingerprints end alike. */
    private final class Part {
        private final int number;
        private long[] entries = new long[0];
        private int used;
        private @Nullable Path file;
        private @Nullable OutputStream spilled;

        Part(int number) {
            this.number = number;
        }

        synchronized void add(long high, long low, long place) {
            if (used == entries.length) {
                if (used == entriesInMemory * LONGS) {
                    spill();
                } else {
                    entries = Arrays.copyOf(entries, Math.min(entriesInMemory * LONGS, Math.max(48, 2 * used)));
                }
            }
            entries[used++] = high;
            entries[used++] = low;
            entries[used++] = place;
        }

        private void spill() {
            try {
                if (spilled == null) {
                    file = folder().newFolder("ids-" + number).resolve("part");
                    spilled = new BufferedOutputStream(LocalFolder.write(file));
                }
                ByteBuffer bytes = ByteBuffer.allocate(used * Long.BYTES);
                bytes.asLongBuffer().put(entries, 0, used);
                spilled.write(bytes.array());
                used = 0;
            } catch (IOException e) {
                throw new IntakeException(
                        "cannot keep the ids of the records in " + scratch + ": " + e
                                + "; make room there, or name another folder in the setting exec.scratch",
                        e);
            }
        }

        /** {place, place again}, or null. */
        synchronized long @Nullable [] repeated() throws IOException {
            long[] all = all();
            int count = all.length / LONGS;
            int[] table = new int[Math.max(4, Integer.highestOneBit(Math.max(1, count)) * 4)];
            long[] found = null;
            for (int entry = 0; entry < count; entry++) {
                int other = put(table, all, entry);
                if (other >= 0) {
                    long one = all[other * LONGS + 2];
                    long two = all[entry * LONGS + 2];
                    if (found == null || Math.max(one, two) < found[1]) {
                        found = new long[] {Math.min(one, two), Math.max(one, two)};
                    }
                }
            }
            return found;
        }

        /** The entry with the same fingerprint that is there already, or -1. */
        private static int put(int[] table, long[] all, int entry) {
            int mask = table.length - 1;
            int slot = (int) (all[entry * LONGS + 1] & mask);
            for (; table[slot] != 0; slot = slot + 1 & mask) {
                int other = table[slot] - 1;
                if (Arrays.equals(all, other * LONGS, other * LONGS + 2, all, entry * LONGS, entry * LONGS + 2)) {
                    return other;
                }
            }
            table[slot] = entry + 1;
            return -1;
        }

        private long[] all() throws IOException {
            if (file == null || spilled == null) {
                return Arrays.copyOf(entries, used);
            }
            spilled.flush();
            byte[] bytes = Disk.read(file);
            long[] all = new long[bytes.length / Long.BYTES + used];
            ByteBuffer.wrap(bytes).asLongBuffer().get(all, 0, bytes.length / Long.BYTES);
            System.arraycopy(entries, 0, all, bytes.length / Long.BYTES, used);
            return all;
        }

        synchronized void close() throws IOException {
            if (spilled != null) {
                spilled.close();
            }
        }
    }
}
