package dev.caravan.lease;

import dev.caravan.store.Layout;

/** The role of preparing or finalizing one generation of a job, under a lease of this node. */
public record ClaimedRole(Layout.Job job, Layout.Generation generation, HeldLease lease) implements Claimed {
    @Override
    public String toString() {
        return lease.claim().key() + " of " + job.name() + " epoch "
                + lease.claim().epoch();
    }
}
