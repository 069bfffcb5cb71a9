package dev.caravan.exec;

import dev.caravan.lease.ClaimedShard;
import dev.caravan.store.Layout;
import java.nio.file.Path;

/**
 * One run of the engine within an attempt: over the whole shard, or over some of its records.
 *
 * @param directory for the engine's own files
 * @param processed where the checked result goes
 */
record Trial(ClaimedShard shard, Path input, Layout.Attempt directory, Path processed) {

    /** @param input the shard's records */
    static Trial ofWhole(ClaimedShard shard, Path input) {
        Layout.Attempt attempt = shard.attempt();
        return new Trial(shard, input, attempt, attempt.processed());
    }
}
