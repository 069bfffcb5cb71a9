package dev.caravan.sim;

import dev.caravan.claim.ShardClaims;
import dev.caravan.lease.RetryPace;
import dev.caravan.shard.Manifest;
import dev.caravan.store.JobFiles;
import dev.caravan.store.SharedDirectory;
import java.util.EnumSet;
import java.util.Set;

/** The protocol as it is, or broken on purpose to see whether the simulation notices. */
interface Variant {
    Variant TRUE = new Variant() {};

    /** The directory as a node's code uses it. */
    default SharedDirectory over(SharedDirectory mount, ModelDirectory server, int client) {
        return mount;
    }

    default ShardClaims claims(JobFiles job, Manifest manifest, SimNode node, RetryPace pace) {
        return new ShardClaims(job, manifest, node.heart(), node.identity(), pace);
    }

    default Set<Promise> checked() {
        return EnumSet.allOf(Promise.class);
    }
}
