package dev.caravan.exec;

import dev.caravan.lease.ClaimedShard;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** How one engine runs a shard: a command for the child, where its result is, and what its failures mean. */
interface EngineDriver {
    /**
     * What to start. Files that the child needs are written to the attempt's directory.
     *
     * @param input the shard's records
     */
    Start start(ClaimedShard shard, Path input, Gpus.Grant gpus) throws IOException;

    /** @param warm work for a warm runner that {@code command} starts; null for a command of this shard alone */
    record Start(
            List<String> command, Map<String, String> environment, List<String> cleared, Child.@Nullable Warm warm) {}

    /** A file, or a folder whose files are the result in the order of their names. */
    Path result(ClaimedShard shard);

    /** Explains an exit code other than 0. */
    AttemptFailed explain(ClaimedShard shard, int exitCode);
}
