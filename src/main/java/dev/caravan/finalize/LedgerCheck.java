package dev.caravan.finalize;

import dev.caravan.shard.DoneRecord;
import dev.caravan.shard.Manifest;
import dev.caravan.store.Layout;
import java.util.List;
import java.util.Optional;

/** Whether every record of a shard is accounted for. */
final class LedgerCheck {
    private LedgerCheck() {}

    /** What does not add up in the record of this shard. */
    static Optional<String> trouble(Manifest.Shard shard, DoneRecord record) {
        return record.rowsIn() == shard.rows()
                ? record.ledger().imbalance()
                : Optional.of("expected rows_in " + shard.rows() + ", found " + record.rowsIn());
    }

    /** @param results in manifest order, of all shards */
    static void require(Layout.Job job, Manifest manifest, List<DoneRecord> results) {
        for (int i = 0; i < results.size(); i++) {
            Optional<String> trouble = trouble(manifest.shards().get(i), results.get(i));
            if (trouble.isPresent()) {
                DoneRecord result = results.get(i);
                throw new MergeException("the rows of " + result.shardId() + " do not add up: "
                        + job.done(result.shardId()) + ": " + trouble.get() + "; nothing was merged: run"
                        + " 'caravan retry --shard-id " + result.shardId() + "' to have the shard done again");
            }
        }
    }
}
