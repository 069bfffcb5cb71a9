package dev.caravan.intake;

/**
 * Where shards end. Shards are contiguous and none is empty. Shard <i>s</i> of <i>n</i> ideally ends at
 * {@code total * (s+1) / n} bytes; a record across that place goes to the side on which more of it lies, so a shard's
 * end is never further from its ideal than half of the record there, unless there must be a record for each shard:
 * a shard takes its first record wherever that lies, and ends early when only as many records are left as shards.
 * Depends on the records' sizes alone, so the same input is cut alike on every host.
 */
final class ShardCuts {
    /** A number of rows that is not known yet: then the last shards may find no record left. */
    static final long UNKNOWN = Long.MAX_VALUE;

    private final long totalRows;
    private final long totalBytes;
    private final int shards;
    private long rows;
    private long bytes;
    private int shard;
    private boolean shardHasRecords;

    ShardCuts(long totalRows, long totalBytes, int shards) {
        this.totalRows = totalRows;
        this.totalBytes = totalBytes;
        this.shards = shards;
    }

    /** The index of the shard that the next record belongs to. @param length of the record, line feed included */
    int shardOfNext(long length) {
        boolean rowsRunOut = totalRows - rows <= shards - 1 - shard;
        boolean mostlyBehind = bytes + length / 2 >= idealEnd(shard);
        if (shard < shards - 1 && shardHasRecords && (rowsRunOut || mostlyBehind)) {
            shard++;
        }
        shardHasRecords = true;
        rows++;
        bytes += length;
        return shard;
    }

    /** Takes a run of records if it is sure that all belong to the current shard. @param length of all of them */
    boolean takeRun(long length) {
        boolean sure = totalRows == UNKNOWN && (shard == shards - 1 || bytes + length <= idealEnd(shard));
        if (sure) {
            shardHasRecords = true;
            bytes += length;
        }
        return sure;
    }

    int shard() {
        return shard;
    }

    /** Computed in two parts, since the product of bytes and shards may not fit into a long. */
    private long idealEnd(int index) {
        return totalBytes / shards * (index + 1) + totalBytes % shards * (index + 1) / shards;
    }
}
