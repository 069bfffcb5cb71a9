package dev.caravan.intake;

import dev.caravan.shard.Execution;
import java.nio.file.Path;

/** What intake asks of the Python side about the script of a job. */
public interface Scripts {
    /** How it is said that a script names no item. */
    String NOTHING = "there is nothing to compute: plan() has no item that is not done, in ";

    /** @throws dev.caravan.CaravanException with file and line if the script cannot be run */
    void check(Execution execution);

    /**
     * Runs the part of a script that says what is to be done.
     *
     * @param request a file with a {@link ScriptInput.Request}; what it asks for is written to the file that it names
     * @param check called every second or so; may throw to end the work
     * @return how many items there are
     */
    long plan(Path request, Runnable check);

    /** Collects what is known of a job in its sink. @param request a file with a {@link dev.caravan.store.SinkRequest} */
    void collect(Path request);
}
