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
        Claim claim = lease.claim();
        return claim.isSpeculative()
                ? job.layout().speculativeAttempt(shard.id(), claim.epochOfShard(), claim.token())
                : job.layout().attempt(shard.id(), claim.epoch(), claim.token());
    }

    /** Whether the result of another attempt stands, so that this one is for nothing. */
    public boolean isDoneElsewhere() {
        return job.done(shard.id())
                .filter(done -> !done.token().equals(lease.claim().token()))
                .isPresent();
    }

    /** Ends the claim because another attempt published first. */
    public void supersede() {
        lease.end(ClaimStatus.SUPERSEDED, null, "another attempt published first");
    }

    /**
     * Publishes the result and ends the claim. Two owners may get here at once only if one of them was taken for dead:
     * then both results are valid and the first stands.
     *
     * @return whether this result is the first
     * @throws LeaseLostException if the lease is lost; then nothing is published
     */
    public boolean publish(DoneRecord done) throws IOException {
        if (lease.claim().isSpeculative() && job.failed(shard.id()).isPresent()) {
            lease.end(ClaimStatus.SUPERSEDED, null, "the shard has failed for good meanwhile");
            return false;
        }
        lease.requireHeld(); // right before: whatever takes time in between may outlast the lease
        boolean first = job.publishDone(done);
        lease.end(first ? ClaimStatus.DONE : ClaimStatus.SUPERSEDED, null, null);
        return first;
    }

    /**
     * Ends the claim as failed. If that uses up the budget of the failure class, the terminal failure is published
     * first; should that not succeed, the owner of the next epoch does it. A second attempt uses no budget.
     *
     * @param forGood whether that is the case at once
     * @return the terminal failure, if this was it
     */
    public Optional<FailedRecord> fail(FailureClass failure, String reason, boolean forGood) throws IOException {
        if (lease.claim().isSpeculative()) {
            lease.end(ClaimStatus.FAILED, failure, reason);
            return Optional.empty();
        }
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
        Claim claim = lease.claim();
        return manifest.jobId() + " " + shard.id() + " epoch " + claim.epochOfShard()
                + (claim.isSpeculative() ? " (second attempt)" : "");
    }
}
