package dev.caravan.shard;

import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The result of a shard. The first one published stands.
 *
 * @param outputPath the validated result, relative to the job directory
 * @param ledger what became of the shard's records; its rows out are those of the result
 * @param operators in the order of the recipe; empty where the engine does not tell
 * @param failures the records that were set aside; null if there are none
 * @param sha256 of the result's bytes, hex
 * @param rayOutputFiles the engine's own files the result was put together from, in order
 * @param speculative whether it is the result of a second attempt beside that epoch
 * @param seconds time of the attempt
 * @param finishedAt UTC, ISO 8601; for people
 */
public record DoneRecord(
        ShardId shardId,
        String node,
        String hostname,
        long pid,
        String token,
        long epoch,
        int attemptNumber,
        String outputPath,
        String executorType,
        @Nullable String rayAddress,
        Ledger ledger,
        List<OperatorRows> operators,
        @Nullable Failures failures,
        long sizeBytes,
        String sha256,
        List<String> rayOutputFiles,
        @Nullable String codeVersion,
        boolean speculative,
        double seconds,
        String finishedAt) {

    public DoneRecord {
        Objects.requireNonNull(ledger, "a done record without a ledger");
        operators = List.copyOf(operators);
        rayOutputFiles = List.copyOf(rayOutputFiles);
        if ((failures != null) != (ledger.failed() > 0)) {
            throw new IllegalArgumentException(
                    "a done record names failed records exactly if the ledger counts some: " + shardId);
        }
    }

    /**
     * The file of the records that the engine fails on, one JSON object a line.
     *
     * @param path relative to the job directory
     * @param sha256 of the file's bytes, hex
     */
    public record Failures(String path, String sha256) {}

    /** Records of the shard. */
    public long rowsIn() {
        return ledger.rowsIn();
    }

    /** Records of the result. */
    public long rows() {
        return ledger.rowsOut();
    }
}
