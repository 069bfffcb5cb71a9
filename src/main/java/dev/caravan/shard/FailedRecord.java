package dev.caravan.shard;

import org.jspecify.annotations.Nullable;

/**
 * The terminal failure of a shard: one failure class has used up its retries.
 *
 * @param attempts failing attempts in all
 * @param attemptDir the last attempt's directory, relative to the job directory
 */
public record FailedRecord(
        ShardId shardId,
        String node,
        String hostname,
        long epoch,
        FailureClass failureClass,
        String reason,
        int attempts,
        @Nullable String attemptDir,
        String failedAt) {

    /**
     * @param usedUp the class whose budget is used up
     * @param last the claim whose failure did that
     * @param spent failures in all
     */
    public static FailedRecord of(ShardId shard, FailureClass usedUp, Claim last, Spent spent, String failedAt) {
        return new FailedRecord(
                shard,
                last.node(),
                last.hostname(),
                last.epoch(),
                usedUp,
                last.reason() == null ? "unknown" : last.reason(),
                spent.total(),
                last.attemptDir(),
                failedAt);
    }

    /** One line for people. */
    public String summary() {
        return "%d failing attempts, the last (%s, on %s): %s; see %s/process.log"
                .formatted(attempts, failureClass, node, reason, attemptDir);
    }
}
