package dev.caravan.finalize;

import dev.caravan.shard.PlanExecute;
import dev.caravan.store.JobFiles;
import dev.caravan.store.SinkRequest;
import java.io.IOException;
import java.nio.file.Path;
import java.util.function.Consumer;

/** Brings what has become of a plan's items to the sink of the job, if it has one. To do it again changes nothing. */
public final class SinkCollection {
    private final Consumer<Path> collector;

    /** @param collector collects what a request says in a file, see {@link SinkRequest} */
    public SinkCollection(Consumer<Path> collector) {
        this.collector = collector;
    }

    /** @param check called before anything is written */
    public void of(JobFiles job, Runnable check) throws IOException {
        PlanExecute options = job.manifest().execution().planExecute();
        if (options != null && options.sink() != null) {
            check.run();
            collector.accept(SinkRequest.write(job, Path.of(options.sink()), false));
        }
    }
}
