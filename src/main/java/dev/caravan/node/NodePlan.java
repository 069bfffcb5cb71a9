package dev.caravan.node;

import dev.caravan.shard.Manifest;
import dev.caravan.store.Layout;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * What one node process is to do.
 *
 * @param root the shared root of {@code caravan node}; null for a node that works on one job directory
 * @param job the one job of such a node; null with a root
 * @param stages which stages it takes part in
 * @param leave when it leaves by itself
 * @param maxShards how many shards it claims at most
 * @param maxRuntime when it leaves whatever is left to do; empty for no limit
 * @param overrides what this node does otherwise than the manifest says
 */
public record NodePlan(
        Layout.@Nullable Root root,
        @Nullable OneJob job,
        Set<Stage> stages,
        Leave leave,
        OptionalInt maxShards,
        Optional<Duration> maxRuntime,
        UnaryOperator<Manifest> overrides) {

    /** Routes that a plan switches on. */
    public enum Stage {
        INBOX,
        PREPARE,
        CLAIM,
        FINALIZE,
        PRESENCE
    }

    public enum Leave {
        /** When it is told to. */
        NEVER,
        /** When every job has ended. */
        JOBS_ENDED,
        /** When no shard is left to work on, or it has claimed as many as it may. */
        SHARDS_SETTLED
    }

    public NodePlan {
        stages = Set.copyOf(stages);
        if ((root == null) == (job == null)) {
            throw new IllegalArgumentException("a node works for a root or for one job");
        }
    }

    /** {@code caravan node}. */
    public static NodePlan forRoot(Layout.Root root, boolean once) {
        return new NodePlan(
                root,
                null,
                Set.of(Stage.values()),
                once ? Leave.JOBS_ENDED : Leave.NEVER,
                OptionalInt.empty(),
                Optional.empty(),
                UnaryOperator.identity());
    }

    /** {@code caravan run}: the whole life of one job, without an inbox. */
    public static NodePlan forRun(Layout.Job job, Layout.Generation generation, OptionalInt maxShards) {
        return new NodePlan(
                null,
                new OneJob(job, generation),
                Set.of(Stage.PREPARE, Stage.CLAIM, Stage.FINALIZE),
                Leave.JOBS_ENDED,
                maxShards,
                Optional.empty(),
                UnaryOperator.identity());
    }

    /** {@code caravan worker}: the shards of a prepared job. */
    public static NodePlan forWorker(Layout.Job job, OptionalInt maxShards, UnaryOperator<Manifest> overrides) {
        return new NodePlan(
                null,
                new OneJob(job, job.generation("by-hand")),
                Set.of(Stage.CLAIM),
                Leave.SHARDS_SETTLED,
                maxShards,
                Optional.empty(),
                overrides);
    }

    /** The same, but it leaves after some time at the latest. */
    public NodePlan within(@Nullable Duration limit) {
        return new NodePlan(root, job, stages, leave, maxShards, Optional.ofNullable(limit), overrides);
    }
}
