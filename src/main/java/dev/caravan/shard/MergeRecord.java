package dev.caravan.shard;

import java.util.List;

/**
 * What a merge made: {@code merge.json}, and the result of the commands that end with a merge.
 *
 * @param output the merged file or the folder of parts, absolute
 * @param rows records in it
 * @param quarantined lines of the input that were set aside, so that nothing of them is in it
 * @param ledger of all shards together
 * @param operators of all shards together; empty where some shard does not tell
 * @param shards what each shard contributed and which node did it, in manifest order
 * @param warnings of the manifest, such as operators that may make something else of the same record
 * @param manifestSha256 of the manifest's bytes, hex
 * @param seal SHA-256 (hex) of this record's own bytes with an empty seal
 */
public record MergeRecord(
        String output,
        long rows,
        long quarantined,
        long sizeBytes,
        String sha256,
        Ledger ledger,
        List<OperatorRows> operators,
        List<Part> shards,
        List<Node> nodes,
        List<String> warnings,
        String manifestSha256,
        String mergedBy,
        String mergedAt,
        String seal) {

    public MergeRecord {
        operators = List.copyOf(operators);
        shards = List.copyOf(shards);
        warnings = List.copyOf(warnings);
        nodes = List.copyOf(nodes);
    }

    public MergeRecord sealed(String newSeal) {
        return new MergeRecord(
                output,
                rows,
                quarantined,
                sizeBytes,
                sha256,
                ledger,
                operators,
                shards,
                nodes,
                warnings,
                manifestSha256,
                mergedBy,
                mergedAt,
                newSeal);
    }

    /**
     * @param sha256 of the part of the merged file
     * @param recordSha256 of the bytes of the shard's done record
     */
    public record Part(ShardId id, long rows, long bytes, String sha256, String node, String recordSha256) {}

    /** @param shards how many shards the node finished */
    public record Node(String node, String hostname, int shards) {}
}
