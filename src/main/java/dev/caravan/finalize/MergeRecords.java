package dev.caravan.finalize;

import dev.caravan.jsonl.Tally;
import dev.caravan.shard.DoneRecord;
import dev.caravan.shard.Ledger;
import dev.caravan.shard.Manifest;
import dev.caravan.shard.MergeRecord;
import dev.caravan.shard.MergeRecord.Node;
import dev.caravan.shard.MergeRecord.Part;
import dev.caravan.shard.OperatorRows;
import dev.caravan.store.JobFiles;
import dev.caravan.store.Layout;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What a merge says about itself. */
final class MergeRecords {
    private MergeRecords() {}

    static MergeRecord of(MergeRequest request, Manifest manifest, Tally tally, List<DoneRecord> results, Instant now)
            throws IOException {
        JobFiles job = request.job();
        MergeRecord record = new MergeRecord(
                request.output().toString(),
                tally.rows(),
                manifest.quarantined(),
                tally.bytes(),
                tally.sha256(),
                ledger(results),
                operators(results),
                parts(job.layout(), results),
                nodes(results),
                manifest.warnings(),
                new RawTally().of(job.layout().manifest()).sha256(),
                request.mergedBy(),
                now.toString(),
                "");
        return record.sealed(Seals.of(record));
    }

    static Ledger ledger(List<DoneRecord> results) {
        return results.stream().map(DoneRecord::ledger).reduce(Ledger.EMPTY, Ledger::plus);
    }

    /** Sums, if every shard tells of the same operators. */
    static List<OperatorRows> operators(List<DoneRecord> results) {
        List<OperatorRows> sums = new ArrayList<>(results.get(0).operators());
        for (DoneRecord result : results.subList(1, results.size())) {
            List<OperatorRows> more = result.operators();
            if (!names(sums).equals(names(more))) {
                return List.of();
            }
            for (int i = 0; i < sums.size(); i++) {
                sums.set(i, sums.get(i).plus(more.get(i)));
            }
        }
        return sums;
    }

    private static List<String> names(List<OperatorRows> operators) {
        return operators.stream().map(OperatorRows::name).toList();
    }

    static List<Part> parts(Layout.Job job, List<DoneRecord> results) throws IOException {
        RawTally raw = new RawTally();
        List<Part> parts = new ArrayList<>();
        for (DoneRecord result : results) {
            String record = raw.of(job.done(result.shardId())).sha256();
            parts.add(new Part(
                    result.shardId(), result.rows(), result.sizeBytes(), result.sha256(), result.node(), record));
        }
        return parts;
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
