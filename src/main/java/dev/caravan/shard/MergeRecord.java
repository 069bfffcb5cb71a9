package dev.caravan.shard;

import java.util.List;

/**
 * What a merge made: {@code merge.json}, and the result of the commands that end with a merge.
 *
 * @param output the merged file, absolute
 * @param rows records in it
 * @param quarantined lines of the input that were set aside, so that nothing of them is in it
 * @param shards what each shard contributed and which node did it, in manifest order
 */
public record MergeRecord(
        String output,
        long rows,
        long quarantined,
        long sizeBytes,
        String sha256,
        List<Part> shards,
        List<Node> nodes,
        String mergedBy,
        String mergedAt) {

    public MergeRecord {
        shards = List.copyOf(shards);
        nodes = List.copyOf(nodes);
    }

    public record Part(ShardId id, long rows, long bytes, String sha256, String node) {}

    /** @param shards how many shards the node finished */
    public record Node(String node, String hostname, int shards) {}
}
