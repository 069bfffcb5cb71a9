package dev.caravan.lease;

import dev.caravan.store.Layout;
import org.jspecify.annotations.Nullable;

/**
 * The role of preparing or finalizing one generation of a job, under a lease of this node.
 *
 * @param giveUp why the role is to be ended as failed instead of tried once more; null to do its work
 */
public record ClaimedRole(
        Layout.Job job,
        Layout.Generation generation,
        HeldLease lease,
        @Nullable String giveUp) implements Claimed {
    @Override
    public String toString() {
        return lease.claim().key() + " of " + job.name() + " epoch "
                + lease.claim().epoch();
    }
}
