package dev.caravan.finalize;

import dev.caravan.lease.ClaimedRole;
import dev.caravan.shard.MergeRecord;
import dev.caravan.store.JobFiles;
import java.nio.file.Path;
import java.time.Clock;
import org.apache.camel.Body;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The step of the finalize route. */
public final class Merging {
    private static final Logger LOG = LoggerFactory.getLogger(Merging.class);

    public void merge(@Body ClaimedRole role) {
        JobFiles job = new JobFiles(role.job());
        MergeRecord merged = new Merger(Clock.systemUTC())
                .merge(new MergeRequest(
                        job,
                        Path.of(job.manifest().output()),
                        false,
                        role.lease().claim().node(),
                        role.lease()::isHeld));
        LOG.info(
                "job {}: merged {} rows of {} shards into {} (sha256 {})",
                job.manifest().jobId(),
                merged.rows(),
                merged.shards().size(),
                merged.output(),
                merged.sha256());
    }
}
