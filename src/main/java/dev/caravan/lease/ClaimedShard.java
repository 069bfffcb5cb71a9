package dev.caravan.lease;

import dev.caravan.shard.Claim;
import dev.caravan.shard.ClaimStatus;
import dev.caravan.shard.DoneRecord;
import dev.caravan.shard.FailedRecord;
import dev.caravan.shard.FailureClass;
import dev.caravan.shard.Manifest;
import dev.caravan.shard.Spent;
import dev.caravan.store.JobFiles;
import dev.caravan.store.Layout;
import java.io.IOException;
import java.util.Optional;

/** A shard under a lease of this node: the body of the exchange from claim to exec. */
public record ClaimedShard(JobFiles job, Manifest manifest, Manifest.Shard shard, HeldLease lease) implements Claimed {
    public Layout.Attempt attempt() {
        return job.layout()
                .attempt(shard.id(), lease.claim().epoch(), lease.claim().token());
    }

    /**
     * Publishes the result and ends the claim. Two owners may get here at once only if one of them was taken for dead:
     * then both results are valid and the first stands.
     *
     * @return whether this result is the first
     * @throws LeaseLostException if the lease is lost; then nothing is published
     */
    public boolean publish(DoneRecord done) throws IOException {
        lease.requireHeld();
        boolean first = job.publishDone(done);
        lease.end(first ? ClaimStatus.DONE : ClaimStatus.SUPERSEDED, null, null);
        return first;
    }

    /**
     * Ends the claim as failed. If that uses up the budget of the failure class, the terminal failure is published
     * first; should that not succeed, the owner of the next epoch does it.
     *
     * @param forGood whether that is the case at once
     * @return the terminal failure, if this was it
     */
    public Optional<FailedRecord> fail(FailureClass failure, String reason, boolean forGood) throws IOException {
        try {
            Claim failed = lease.claim().ended(ClaimStatus.FAILED, failure, reason);
            Spent spent = failed.spentAfter();
            Optional<FailureClass> usedUp = forGood ? Optional.of(failure) : spent.usedUp(manifest.policy());
            if (usedUp.isEmpty()) {
                return Optional.empty();
            }
            FailedRecord record = FailedRecord.of(
                    shard.id(), usedUp.get(), failed, spent, lease.now().toString());
            lease.requireHeld();
            job.publishFailed(record);
            return Optional.of(record);
        } finally {
            lease.end(ClaimStatus.FAILED, failure, reason);
        }
    }

    /** Retries of this class that are left after one failure more. */
    public int retriesLeft(FailureClass failure) {
        return manifest.policy().retries(failure) - lease.claim().spent().of(failure);
    }

    @Override
    public String toString() {
        return manifest.jobId() + " " + shard.id() + " epoch " + lease.claim().epoch();
    }
}
