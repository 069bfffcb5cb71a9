package dev.caravan.shard;

import java.util.List;

/**
 * {@code index.json} of an output of parts: what its files are, in manifest order.
 *
 * @param sha256 of the bytes of all parts one after the other, hex: what one merged file would have
 */
public record PartsIndex(long rows, long bytes, String sha256, List<Part> parts) {
    public PartsIndex {
        parts = List.copyOf(parts);
    }

    /** @param name of the file beside the index */
    public record Part(String name, long rows, long bytes, String sha256) {}
}
