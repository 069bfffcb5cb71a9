package dev.caravan.shard;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Options of engine {@code plan-execute}.
 *
 * @param workers processes on a node, for each of its slots; null means as many as Ray has CPUs there
 * @param perWorker items that a worker executes at once
 * @param retries of an item whose worker was lost
 * @param generateIds whether items without an id get one
 * @param limit how many items are planned at most; 0 for all
 * @param sink folder of the collected results; null for none
 * @param resume whether items that the sink has results or failures of are left out
 * @param rerunFailed kinds of failures that are planned again all the same
 * @param labels what {@code context().labels} says
 */
public record PlanExecute(
        @Nullable Integer workers,
        int perWorker,
        int retries,
        boolean generateIds,
        long limit,
        @Nullable String sink,
        boolean resume,
        List<String> rerunFailed,
        List<String> labels) {

    public static final List<String> KINDS = List.of("execute", "infra", "cancelled");
    public static final int RETRIES = 2;

    public PlanExecute {
        rerunFailed = List.copyOf(rerunFailed);
        labels = List.copyOf(labels);
    }
}
