package dev.caravan.shard;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The result of a shard. The first one published stands.
 *
 * @param outputPath the validated result, relative to the job directory
 * @param rowsIn records of the shard
 * @param rows records of the result
 * @param sha256 of the result's bytes, hex
 * @param rayOutputFiles the engine's own files the result was put together from, in order
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
        long rowsIn,
        long rows,
        long sizeBytes,
        String sha256,
        List<String> rayOutputFiles,
        @Nullable String codeVersion,
        double seconds,
        String finishedAt) {

    public DoneRecord {
        rayOutputFiles = List.copyOf(rayOutputFiles);
    }
}
