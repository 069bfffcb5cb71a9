package dev.caravan.finalize;

import dev.caravan.jsonl.Tally;
import dev.caravan.shard.DoneRecord;
import dev.caravan.shard.Manifest;
import dev.caravan.shard.MergeRecord;
import dev.caravan.shard.MergeRecord.Node;
import dev.caravan.shard.MergeRecord.Part;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What a merge says about itself. */
final class MergeRecords {
    private MergeRecords() {}

    static MergeRecord of(MergeRequest request, Manifest manifest, Tally tally, List<DoneRecord> results, Instant now) {
        return new MergeRecord(
                request.output().toString(),
                tally.rows(),
                manifest.quarantined(),
                tally.bytes(),
                tally.sha256(),
                parts(results),
                nodes(results),
                request.mergedBy(),
                now.toString());
    }

    static List<Part> parts(List<DoneRecord> results) {
        return results.stream()
                .map(result ->
                        new Part(result.shardId(), result.rows(), result.sizeBytes(), result.sha256(), result.node()))
                .toList();
    }

    private static List<Node> nodes(List<DoneRecord> results) {
        Map<String, Node> nodes = new LinkedHashMap<>();
        for (DoneRecord result : results) {
            nodes.merge(
                    result.node(),
                    new Node(result.node(), result.hostname(), 1),
                    (before, one) -> new Node(before.node(), before.hostname(), before.shards() + 1));
        }
        return List.copyOf(nodes.values());
    }
}
