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
        String failedAt) {}
