package dev.caravan.intake;

import dev.caravan.shard.Execution;
import dev.caravan.shard.Forecast;
import dev.caravan.shard.MiniBatch;
import dev.caravan.shard.PlanExecute;
import org.jspecify.annotations.Nullable;

/**
 * How many shards a job gets that leaves the number to Caravan: about a minute of work each, so that the end finds all
 * nodes busy, and several for each slot. A measured cost of this work says what a minute is; else the bytes do.
 *
 * @param minuteBytes what a slot is thought to do in a minute
 * @param slots that are known so far; more may join
 * @param measured on a sample of this input; null if that was not done
 */
public record AutoShards(
        long minuteBytes,
        int slots,
        Execution execution,
        @Nullable Forecast measured) {

    /** Small input is spread over a few nodes that may join, where a shard costs next to nothing. */
    static final int FEWEST = 4;

    private static final int USUAL_WORKERS = 4;
    private static final int ROUNDS = 4;

    /** A shard of less than a second costs as much as its work. */
    private static final int LEAST_PART = 60;

    /** To start an engine for each shard takes up to a minute: shards are for some minutes then, and not below one. */
    private static final int COLD_MINUTES = 4;

    /** The same for input of this many bytes in all its files: what was measured on other input says nothing. */
    AutoShards ofInput(long bytes) {
        return measured == null || measured.inputBytes() == bytes
                ? this
                : new AutoShards(minuteBytes, slots, execution, null);
    }

    /** No shard is empty. @param rows of the input; more than there are if they are not known yet */
    int of(long rows, long bytes) {
        if (execution.engine().isScripted()) {
            return byItems(rows);
        }
        return (int) Math.min(rows, measured == null ? bySize(bytes) : measured.shardsFor(slots));
    }

    /** Items may take any time. A shard keeps the workers of a node busy for some rounds, as far as that leaves enough. */
    private int byItems(long items) {
        PlanExecute planned = execution.planExecute();
        MiniBatch batches = execution.miniBatch();
        Integer workers = planned != null ? planned.workers() : batches != null ? batches.processCountPerNode() : null;
        long round = (long) (workers == null ? USUAL_WORKERS : workers) * (planned == null ? 1 : planned.perWorker());
        long most = (long) Math.max(slots, FEWEST) * Forecast.LEAST_SHARDS_A_SLOT;
        return (int) Math.max(1, Math.min(most, Math.min(items, items / (round * ROUNDS))));
    }

    private long bySize(long bytes) {
        boolean cold = execution.startsForEachShard();
        long most = cold ? minuteBytes * COLD_MINUTES : minuteBytes;
        long least = cold ? minuteBytes : Math.max(1, minuteBytes / LEAST_PART);
        long forTime = bytes / most + (bytes % most == 0 ? 0 : 1);
        long sane = Math.max(bytes / least, cold ? slots : Math.max(slots, FEWEST));
        long forSlots = Math.min((long) slots * Forecast.LEAST_SHARDS_A_SLOT, sane);
        return Math.min(Forecast.MOST_SHARDS, Math.max(forTime, forSlots));
    }
}
