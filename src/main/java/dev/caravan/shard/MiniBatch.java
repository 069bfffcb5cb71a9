package dev.caravan.shard;

import com.fasterxml.jackson.annotation.JsonIgnore;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Options of engine {@code mini-batch}, with the names of Azure Machine Learning.
 *
 * @param inputs files and folders, absolute
 * @param datasetType {@code file}: run() gets paths; {@code tabular}: it gets rows, as a DataFrame
 * @param errorThreshold most items that may fail; -1 for any
 * @param miniBatchErrorThreshold most mini-batches that may fail; -1 for any
 * @param allowedFailedPercent the same of 100 mini-batches
 * @param outputAction {@code append_row}: what run() returns goes to one file; {@code summary_only}: it is only counted
 * @param appendRowFileName of that file
 * @param processCountPerNode for each slot of a node; null means one with GPUs, else one a CPU
 * @param runInvocationTimeout seconds of one call of run()
 * @param runMaxTry tries of a mini-batch
 * @param taskOverheadTimeout seconds to read a mini-batch
 * @param sideInputs files and folders that all processes need, absolute
 * @param resourceMonitorInterval seconds between two looks at the node; 0 for none
 * @param profilingModule null for no profile
 */
public record MiniBatch(
        List<String> inputs,
        String datasetType,
        Size miniBatchSize,
        long errorThreshold,
        long miniBatchErrorThreshold,
        double allowedFailedPercent,
        String outputAction,
        String appendRowFileName,
        @Nullable Integer processCountPerNode,
        int runInvocationTimeout,
        int runMaxTry,
        int taskOverheadTimeout,
        String loggingLevel,
        List<String> sideInputs,
        int resourceMonitorInterval,
        @Nullable String profilingModule) {

    public static final String FILE = "file";
    public static final String TABULAR = "tabular";
    public static final String APPEND_ROW = "append_row";
    public static final String SUMMARY_ONLY = "summary_only";
    private static final int ANY = -1;

    public MiniBatch {
        inputs = List.copyOf(inputs);
        sideInputs = List.copyOf(sideInputs);
    }

    /** One of both. */
    public record Size(@Nullable Long count, @Nullable Long bytes) {
        /** As a descriptor says it. */
        @Override
        public String toString() {
            return count == null ? bytes + "B" : count.toString();
        }
    }

    @JsonIgnore
    public boolean appendsRows() {
        return outputAction.equals(APPEND_ROW);
    }

    /**
     * What failed of some shards.
     *
     * @param items that run() returned nothing for
     * @param miniBatches of which at least one item failed
     */
    public record Failed(long items, long miniBatches) {
        /** Their lines among the operators of a done record: what went in, and what of it did not fail. */
        public static List<OperatorRows> lines(long items, long failedItems, long batches, long failedBatches) {
            return List.of(
                    new OperatorRows("mini_batch", batches, batches - failedBatches),
                    new OperatorRows("run", items, items - failedItems));
        }

        public static Failed of(Collection<DoneRecord> done) {
            return new Failed(sum(done, 1), sum(done, 0));
        }

        private static long sum(Collection<DoneRecord> done, int line) {
            return done.stream()
                    .map(record -> record.operators().get(line))
                    .mapToLong(rows -> rows.rowsIn() - rows.rowsOut())
                    .sum();
        }
    }

    /** How many may fail yet; null for any. */
    public record Allowed(@Nullable Long items, @Nullable Long miniBatches) {}

    /** @param total mini-batches of the job */
    public Allowed allowed(long total, Failed known) {
        Long batches = batchesAllowed(total);
        return new Allowed(
                errorThreshold == ANY ? null : errorThreshold - known.items(),
                batches == null ? null : batches - known.miniBatches());
    }

    private @Nullable Long batchesAllowed(long total) {
        long percent = (long) (total * allowedFailedPercent / 100);
        if (miniBatchErrorThreshold == ANY) {
            return allowedFailedPercent == 100 ? null : percent;
        }
        return Math.min(miniBatchErrorThreshold, percent);
    }

    /** What is exceeded by the failures of all shards. */
    public Optional<String> exceeded(long total, Failed failed) {
        Allowed left = allowed(total, failed);
        if (left.items() != null && left.items() < 0) {
            return Optional.of(failed.items() + " items failed, error_threshold is " + errorThreshold);
        }
        if (left.miniBatches() != null && left.miniBatches() < 0) {
            return Optional.of(failed.miniBatches() + " of " + total + " mini-batches failed, " + limits());
        }
        return Optional.empty();
    }

    /** For messages. */
    public String limits() {
        return "error_threshold: " + errorThreshold + ", mini_batch_error_threshold: " + miniBatchErrorThreshold
                + ", allowed_failed_percent: " + allowedFailedPercent;
    }
}
