package dev.caravan.shard;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** {@code attempt.json}: what ran, where, and how it ended. For people and tools; no decision rests on it. A speculative one
 * is a second attempt beside its epoch. */
public record AttemptRecord(
        ShardId shardId,
        long epoch,
        boolean speculative,
        String token,
        String node,
        String hostname,
        long pid,
        String startedAt,
        List<String> command,
        String gpus,
        AttemptStatus status,
        @Nullable FailureClass failureClass,
        @Nullable String reason,
        @Nullable String endedAt) {

    public AttemptRecord {
        command = List.copyOf(command);
    }

    public AttemptRecord ended(AttemptStatus end, @Nullable FailureClass failure, @Nullable String why, String when) {
        return new AttemptRecord(
                shardId,
                epoch,
                speculative,
                token,
                node,
                hostname,
                pid,
                startedAt,
                command,
                gpus,
                end,
                failure,
                why,
                when);
    }
}
