package dev.caravan.finalize;

import dev.caravan.lease.ClaimedRole;
import dev.caravan.shard.MergeRecord;
import dev.caravan.shard.PlanExecute;
import dev.caravan.store.JobFiles;
import dev.caravan.store.SinkRequest;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Clock;
import java.util.function.Consumer;
import org.apache.camel.Body;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The step of the finalize route. */
public final class Merging {
    private static final Logger LOG = LoggerFactory.getLogger(Merging.class);

    private final Consumer<Path> sinks;

    /** @param sinks collects what a request says in a file, see {@link SinkRequest} */
    public Merging(Consumer<Path> sinks) {
        this.sinks = sinks;
    }

    /** @throws IOException also where results cannot be seen yet: they were published, so the next try may see them */
    public void merge(@Body ClaimedRole role) throws IOException {
        JobFiles job = new JobFiles(role.job());
        try {
            merge(role, job);
            PlanExecute options = job.manifest().execution().planExecute();
            if (options != null && options.sink() != null) {
                role.lease().requireHeld();
                sinks.accept(SinkRequest.write(job, Path.of(options.sink()), false));
            }
        } catch (IncompleteException e) {
            throw new IOException(e.getMessage(), e);
        }
    }

    private static void merge(ClaimedRole role, JobFiles job) {
        MergeRecord merged = new Merger(Clock.systemUTC())
                .merge(new MergeRequest(
                        job,
                        Path.of(job.manifest().output()),
                        false,
                        role.lease().claim().node(),
                        () -> role.lease().isHeld() && !job.isCancelled()));
        LOG.info(
                "job {}: merged {} rows of {} shards into {} (sha256 {}), {} bad records stay quarantined",
                job.manifest().jobId(),
                merged.rows(),
                merged.shards().size(),
                merged.output(),
                merged.sha256(),
                merged.quarantined());
    }
}
