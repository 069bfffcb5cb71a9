package dev.caravan.shard;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a whole job will take, told from a few units of its input that were worked on.
 *
 * @param records about how many the input has
 * @param shards suggested: about a minute of work each, and some for each slot, so that none waits long for the last
 * @param seconds until all shards are done
 * @param fewestSeconds if all of the input were like the quickest unit
 * @param mostSeconds if all of the input were like the slowest unit
 * @param shardBytes of the shards' files; 0 where shards are ranges of the input
 * @param resultBytes of the shards' results; the merged file takes as much again
 * @param work what was measured
 */
public record Forecast(
        long inputBytes,
        long records,
        int nodes,
        int slots,
        int shards,
        double seconds,
        double fewestSeconds,
        double mostSeconds,
        long shardBytes,
        long resultBytes,
        Work work,
        Costs costs,
        List<Unit> units) {

    public static final int LEAST_SHARDS_A_SLOT = 8;
    /** The size that Caravan is designed for. */
    public static final int MOST_SHARDS = 100_000;

    private static final double SECONDS_A_SHARD = 60;
    private static final double LEAST_SECONDS = 0.001;

    /** A part of the input that was worked on. */
    public record Unit(long records, long bytes, long resultBytes, double seconds) {}

    /**
     * What does not grow with the input.
     *
     * @param startSeconds of each slot's first shard, in addition
     * @param shardSeconds of each shard, however small
     * @param memoryBytes of the engine's processes on one machine, all slots together; 0 if that was not seen
     */
    public record Costs(double startSeconds, double shardSeconds, long memoryBytes) {}

    /** What is done to each record, as the manifest has it. @param recipeSha256 null for a job without a recipe */
    public record Work(@Nullable String recipeSha256, Execution execution) {
        public Work {
            execution = execution.withoutCheckpoint(); // a plan makes none
        }

        public static Work of(Manifest job) {
            return new Work(job.recipe() == null ? null : job.recipe().sha256(), job.execution());
        }
    }

    /** @param inShards whether shards have files of their own */
    public record Job(long inputBytes, boolean inShards, int nodes, int slots, Work work) {}

    public Forecast {
        units = List.copyOf(units);
    }

    public static Forecast of(Job job, Costs costs, List<Unit> units) {
        double bytes = units.stream().mapToLong(Unit::bytes).sum();
        double rows = units.stream().mapToLong(Unit::records).sum();
        double results = units.stream().mapToLong(Unit::resultBytes).sum();
        double work = units.stream().mapToDouble(unit -> work(unit, costs)).sum();
        long records = Math.max(1, Math.round(job.inputBytes() / bytes * rows));
        double parallel = (double) job.nodes() * job.slots();
        double total = job.inputBytes() / bytes * work;
        int shards = (int) Math.min(records, shards(total, parallel, costs));
        double rounds = Math.ceil(shards / parallel);
        double fixed = costs.startSeconds() + rounds * costs.shardSeconds();
        double[] each = units.stream()
                .mapToDouble(unit -> work(unit, costs) / unit.bytes())
                .sorted()
                .toArray();
        double bytesOfASlot = rounds * job.inputBytes() / shards;
        return new Forecast(
                job.inputBytes(),
                records,
                job.nodes(),
                job.slots(),
                shards,
                fixed + bytesOfASlot * work / bytes,
                fixed + bytesOfASlot * each[0],
                fixed + bytesOfASlot * each[each.length - 1],
                job.inShards() ? job.inputBytes() : 0,
                Math.round(job.inputBytes() * (results / bytes)),
                job.work(),
                costs,
                units);
    }

    /** How many shards the same input should have where so many slots are known, perhaps more than the plan was for. */
    public int shardsFor(int knownSlots) {
        double bytes = units.stream().mapToLong(Unit::bytes).sum();
        double work = units.stream().mapToDouble(unit -> work(unit, costs)).sum();
        return shards(inputBytes / bytes * work, Math.max((double) nodes * slots, knownSlots), costs);
    }

    /** No shard takes less for its work than it costs, unless slots would have none. */
    private static int shards(double totalSeconds, double parallel, Costs costs) {
        double wanted = Math.max(Math.ceil(totalSeconds / SECONDS_A_SHARD), LEAST_SHARDS_A_SLOT * parallel);
        double worthIt = costs.shardSeconds() > 0 ? Math.floor(totalSeconds / costs.shardSeconds()) : wanted;
        return (int) Math.min(MOST_SHARDS, Math.min(wanted, Math.max(parallel, worthIt)));
    }

    private static double work(Unit unit, Costs costs) {
        return Math.max(LEAST_SECONDS, unit.seconds() - costs.shardSeconds());
    }
}
