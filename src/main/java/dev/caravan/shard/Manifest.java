package dev.caravan.shard;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a job consists of; written once by prepare and never changed. Field names are those of Data-Juicer's elastic
 * sharding where it has the same fact. Paths of the job directory are relative to it, all others absolute.
 *
 * @param createdAt UTC, ISO 8601; for people
 * @param datasetPath the input file or folder as requested, absolute
 * @param mediaRoot folder against which relative media paths were resolved
 * @param mediaKeys record keys that hold media paths, by kind (image, audio, video)
 * @param indexKeys record keys that were filled with the global row number where absent
 * @param normalizedSha256 SHA-256 (hex) of all shards' bytes in manifest order; absent where shards are ranges
 * @param recipe absent for engine {@code command}
 * @param codeVersion version of the engine's code; nodes with another refuse the job; absent for engine command
 * @param output where the merged file or the folder of parts goes, absolute
 * @param quarantine the input lines that were set aside; null if there are none
 * @param repair the job that this one repairs; null for a job made from input alone
 */
public record Manifest(
        int schemaVersion,
        String jobId,
        String createdAt,
        String datasetPath,
        String mediaRoot,
        Map<String, String> mediaKeys,
        List<String> indexKeys,
        List<InputFile> inputFiles,
        long totalRows,
        long totalSizeBytes,
        @Nullable String normalizedSha256,
        int numShards,
        List<Shard> shards,
        @Nullable Recipe recipe,
        @Nullable String codeVersion,
        Execution execution,
        Policy policy,
        String output,
        OutputForm outputForm,
        List<String> warnings,
        @Nullable Quarantine quarantine,
        @Nullable Repair repair) {

    public static final int SCHEMA_VERSION = 2;

    public Manifest {
        mediaKeys = Map.copyOf(mediaKeys);
        indexKeys = List.copyOf(indexKeys);
        inputFiles = List.copyOf(inputFiles);
        shards = List.copyOf(shards);
        warnings = List.copyOf(warnings);
    }

    /** The same job, run otherwise on one node. */
    public Manifest with(Execution otherExecution, Policy otherPolicy) {
        return new Manifest(
                schemaVersion,
                jobId,
                createdAt,
                datasetPath,
                mediaRoot,
                mediaKeys,
                indexKeys,
                inputFiles,
                totalRows,
                totalSizeBytes,
                normalizedSha256,
                numShards,
                shards,
                recipe,
                codeVersion,
                otherExecution,
                otherPolicy,
                output,
                outputForm,
                warnings,
                quarantine,
                repair);
    }

    /** How many input lines were set aside. */
    public long quarantined() {
        return quarantine == null ? 0 : quarantine.records().rows();
    }

    /** @param mtimeNs modification time in nanoseconds since the epoch, on the file system's clock */
    public record InputFile(String path, long size, long mtimeNs, String sha256, long rows) {}

    public ShardForm shardForm() {
        return shards.stream().anyMatch(shard -> shard.path() == null) ? ShardForm.RANGES : ShardForm.FILES;
    }

    /**
     * @param path relative to the job directory; null for a shard that is ranges of the input
     * @param ranges where the shard lies in the input, in order; empty for a shard with a file of its own
     * @param bytes of the records, a line feed each, whether or not the input ends with one
     * @param sha256 of those bytes
     */
    public record Shard(ShardId id, @Nullable String path, List<Range> ranges, long rows, long bytes, String sha256) {
        public Shard {
            ranges = ranges == null ? List.of() : List.copyOf(ranges); // older manifests have none
        }

        public Shard(ShardId id, String path, long rows, long bytes, String sha256) {
            this(id, path, List.of(), rows, bytes, sha256);
        }
    }

    /** Part of an input file. @param file absolute */
    public record Range(String file, long offset, long length) {}

    /** @param snapshotPath relative to the job directory */
    public record Recipe(String sourcePath, String snapshotPath, String sha256) {}

    /**
     * @param records a {@link Quarantined} a line
     * @param lines the lines themselves in the same order, each with one line feed
     */
    public record Quarantine(File records, File lines) {}

    /**
     * @param repairedJob job directory of the job whose quarantined lines were repaired, absolute
     * @param lines the repaired lines as they were given, a blank one for each line that stays away
     * @param rows how many lines became records
     */
    public record Repair(String repairedJob, File lines, long rows) {}

    /** @param path relative to the job directory */
    public record File(String path, long rows, long bytes, String sha256) {}
}
