package dev.caravan.shard;

import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What a lock file says. One file is one claim of one shard (or role) in one epoch; it is made whole by the node that
 * wins the epoch and rewritten by that node only.
 *
 * @param key the shard id or the role's name
 * @param epoch 1 for the first claim; grows by one with each further claim of the key
 * @param token random; tells this claim from every other
 * @param failureClass set when {@code status} is failed
 * @param attemptDir relative to the job directory; null for roles
 * @param spent failures charged before this claim
 * @param failedOn nodes on which the key has failed before this claim
 * @param tookOver the token of the dead claim that this one replaced
 * @param beside of a second attempt: the epoch that it stands beside, which it does not end; {@code epoch} then numbers
 *     such claims of the key. Null for all others
 */
public record Claim(
        String key,
        long epoch,
        String token,
        String node,
        String hostname,
        long pid,
        String claimedAt,
        ClaimStatus status,
        @Nullable FailureClass failureClass,
        @Nullable String reason,
        @Nullable String attemptDir,
        Spent spent,
        List<String> failedOn,
        @Nullable String tookOver,
        @Nullable Long beside) {

    /** That ends the epoch before it. */
    public Claim(
            String key,
            long epoch,
            String token,
            String node,
            String hostname,
            long pid,
            String claimedAt,
            ClaimStatus status,
            @Nullable FailureClass failureClass,
            @Nullable String reason,
            @Nullable String attemptDir,
            Spent spent,
            List<String> failedOn,
            @Nullable String tookOver) {
        this(
                key,
                epoch,
                token,
                node,
                hostname,
                pid,
                claimedAt,
                status,
                failureClass,
                reason,
                attemptDir,
                spent,
                failedOn,
                tookOver,
                null);
    }

    public Claim {
        for (Object needed : new Object[] {key, token, node, hostname, status, spent}) {
            Objects.requireNonNull(needed, "a claim without a key, token, node, host, status or what was spent");
        }
        failedOn = List.copyOf(failedOn);
        if (epoch < 1) {
            throw new IllegalArgumentException("epochs start at 1, not " + epoch);
        }
        if ((status == ClaimStatus.FAILED) != (failureClass != null)) {
            throw new IllegalArgumentException("a claim has a failure class exactly if it failed: " + key);
        }
    }

    public Claim ended(ClaimStatus end, @Nullable FailureClass failure, @Nullable String why) {
        if (!status.mayBecome(end)) {
            throw new IllegalStateException("claim " + key + " epoch " + epoch + " is " + status + ", not " + end);
        }
        return new Claim(
                key,
                epoch,
                token,
                node,
                hostname,
                pid,
                claimedAt,
                end,
                failure,
                why,
                attemptDir,
                spent,
                failedOn,
                tookOver,
                beside);
    }

    /** The epoch that it is for: a second attempt's is the one that it stands beside. */
    public long epochOfShard() {
        return beside == null ? epoch : beside;
    }

    public boolean isSpeculative() {
        return beside != null;
    }

    /** What is charged once this claim has ended as it says; a claim that still runs charges nothing by itself. */
    public Spent spentAfter() {
        return failureClass == null ? spent : spent.plus(failureClass);
    }

    public List<String> failedOnAfter() {
        return failureClass == null || failedOn.contains(node)
                ? failedOn
                : Stream.concat(failedOn.stream(), Stream.of(node)).toList();
    }
}
