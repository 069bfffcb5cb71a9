package dev.caravan.lease;

import dev.caravan.shard.Manifest;
import dev.caravan.store.JobFiles;
import dev.caravan.store.Layout;

/** A shard under a lease of this node: the body of the exchange from claim to exec. */
public record ClaimedShard(JobFiles job, Manifest manifest, Manifest.Shard shard, HeldLease lease) implements Claimed {
    public Layout.Attempt attempt() {
        return job.layout()
                .attempt(shard.id(), lease.claim().epoch(), lease.claim().token());
    }

    @Override
    public String toString() {
        return manifest.jobId() + " " + shard.id() + " epoch " + lease.claim().epoch();
    }
}
