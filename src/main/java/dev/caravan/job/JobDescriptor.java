package dev.caravan.job;

import dev.caravan.shard.Execution;
import dev.caravan.shard.OutputForm;
import dev.caravan.shard.Policy;
import dev.caravan.shard.ShardForm;
import java.util.Optional;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * What a user asks for, checked and complete. All paths are absolute.
 *
 * @param name names the job and its directory: letters, digits, dot, dash and underscore, at most 100, first a letter
 *     or digit
 * @param priority of two jobs, nodes claim shards of the one with the greater first
 * @param recipe Data-Juicer recipe; null for engine {@code command}
 * @param datasetPath a .jsonl file, perhaps .gz or .zst, or a folder of them; null means the recipe's {@code dataset_path}
 * @param output where the merged file or the folder of parts goes; null means {@code merged.jsonl} or {@code merged} in
 *     the job directory
 * @param numShards null means auto: chosen from the size of the input
 * @param shardForm null means ranges where no record must change, else files
 */
public record JobDescriptor(
        String name,
        int priority,
        Execution execution,
        @Nullable String recipe,
        @Nullable String datasetPath,
        @Nullable String output,
        OutputForm outputForm,
        @Nullable Integer numShards,
        @Nullable ShardForm shardForm,
        Policy policy) {

    public Optional<String> recipePath() {
        return Optional.ofNullable(recipe);
    }

    public OptionalInt shards() {
        return numShards == null ? OptionalInt.empty() : OptionalInt.of(numShards);
    }
}
