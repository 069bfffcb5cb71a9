package dev.caravan.finalize;

import dev.caravan.lease.ClaimedRole;
import dev.caravan.shard.MergeRecord;
import dev.caravan.store.JobFiles;
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

    private final SinkCollection sinks;

    /** @param collector as of {@link SinkCollection} */
    public Merging(Consumer<Path> collector) {
        this.sinks = new SinkCollection(collector);
    }

    /** @throws IOException also where results cannot be seen yet: they were published, so the next try may see them */
    public void merge(@Body ClaimedRole role) throws IOException {
        JobFiles job = new JobFiles(role.job());
        try {
            merge(role, job);
            sinks.of(job, role.lease()::requireHeld);
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
