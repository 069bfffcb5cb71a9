package dev.caravan.exec;

import dev.caravan.shard.OperatorRows;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** How one engine runs: a command for the child, where its result is, and what its failures mean. */
interface EngineDriver {
    /** What to start. Files that the child needs are written to the trial's directory. */
    Start start(Trial trial, Gpus.Grant gpus) throws IOException;

    /** @param warm work for a warm runner that {@code command} starts; null for a command of this shard alone */
    record Start(
            List<String> command, Map<String, String> environment, List<String> cleared, Child.@Nullable Warm warm) {}

    /** A file, or a folder whose files are the result in the order of their names. */
    Path result(Trial trial);

    /** What each operator got and left, of a success; empty where the engine does not tell. */
    List<OperatorRows> operators(Trial trial);

    /** Whether that is of records, so that it says how many were dropped or made. */
    default boolean operatorsTellOfRows() {
        return true;
    }

    /** Explains an exit code other than 0. */
    AttemptFailed explain(Trial trial, int exitCode);
}
