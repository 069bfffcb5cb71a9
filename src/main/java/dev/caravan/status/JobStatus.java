package dev.caravan.status;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonValue;
import dev.caravan.shard.FailedRecord;
import dev.caravan.shard.Ledger;
import dev.caravan.shard.ShardId;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * A job at one moment.
 *
 * @param error why the job as a whole failed, where a shard is not to blame
 * @param output where the merged file is or will be
 * @param sha256 of the merged file, once there is one
 * @param pace how fast it went lately; null before the first shard is done, and once the job has ended
 * @param plan what was forecast, if that was kept, beside what came; absent without a forecast
 * @param allShards every shard with its state, in manifest order; null where that is not asked for
 */
public record JobStatus(
        String job,
        String jobDir,
        State state,
        ShardCounts shards,
        RowCounts rows,
        List<NodeShare> nodes,
        List<FailedRecord> failures,
        @Nullable String error,
        @Nullable String output,
        @Nullable String sha256,
        @Nullable Pace pace,
        @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable Plan plan,
        @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable List<ShardLine> allShards) {

    public JobStatus {
        nodes = List.copyOf(nodes);
        failures = List.copyOf(failures);
        allShards = allShards == null ? null : List.copyOf(allShards);
    }

    public enum State {
        /** Accepted, and not prepared yet. */
        PREPARING,
        RUNNING,
        /** Nothing of it is claimed until it is resumed. */
        PAUSED,
        /** All shards are done, and not merged yet. */
        FINALIZING,
        DONE,
        FAILED,
        /** Somebody ended it before it was merged. */
        CANCELLED;

        @JsonValue
        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }

        public boolean ended() {
            return this == DONE || this == FAILED || this == CANCELLED;
        }
    }

    public enum ShardState {
        PENDING,
        RUNNING,
        /** Its claim has not been renewed for longer than a lease, by this machine's clock: a hint, not a judgement. */
        STALE,
        DONE,
        FAILED;

        @JsonValue
        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    public record ShardCounts(int total, int pending, int running, int stale, int done, int failed) {}

    /**
     * @param total records of the input
     * @param done records of finished shards; what became of them is in the next four numbers
     * @param quarantined lines of the input that are no records and were set aside
     */
    public record RowCounts(
            long total, long done, long out, long filtered, long expanded, long failed, long quarantined) {
        static RowCounts of(long total, Ledger finished, long quarantined) {
            return new RowCounts(
                    total,
                    finished.rowsIn(),
                    finished.rowsOut(),
                    finished.filtered(),
                    finished.expanded(),
                    finished.failed(),
                    quarantined);
        }
    }

    /** @param etaSeconds until all shards are done, if it goes on like that */
    public record Pace(double rowsPerSecond, long etaSeconds) {}

    /**
     * @param seconds forecast; fewest and most are its range
     * @param takenSeconds from the start of the first result to the end of the last one so far, by the nodes' clocks
     * @param resultBytes forecast
     * @param takenResultBytes of the results so far
     */
    public record Plan(
            double seconds,
            double fewestSeconds,
            double mostSeconds,
            double takenSeconds,
            long resultBytes,
            long takenResultBytes) {}

    public record NodeShare(String node, String hostname, int done, int running) {}

    /** @param node who has or had it; null for a pending shard */
    public record ShardLine(
            ShardId id,
            ShardState state,
            long rows,
            @Nullable String node,
            @Nullable String note) {}

    public static JobStatus unreadable(String job, String jobDir, String error) {
        return new JobStatus(
                job,
                jobDir,
                State.FAILED,
                new ShardCounts(0, 0, 0, 0, 0, 0),
                RowCounts.of(0, Ledger.EMPTY, 0),
                List.of(),
                List.of(),
                error,
                null,
                null,
                null,
                null,
                null);
    }

    /** The same without what grows with the number of shards. */
    public JobStatus withoutShardLines() {
        return new JobStatus(
                job, jobDir, state, shards, rows, nodes, failures, error, output, sha256, pace, plan, null);
    }

    /** 0 done, 1 not finished, 2 failed or cancelled. */
    @JsonIgnore
    public int exitCode() {
        return switch (state) {
            case DONE -> 0;
            case FAILED, CANCELLED -> 2;
            default -> 1;
        };
    }
}
