package dev.caravan.intake;

import dev.caravan.packing.Packing;
import dev.caravan.shard.Execution;
import dev.caravan.shard.OutputForm;
import dev.caravan.shard.Policy;
import dev.caravan.shard.ShardForm;
import dev.caravan.store.Layout;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A job to prepare.
 *
 * @param datasetPath a .jsonl or .ndjson file, as it is or as .gz or .zst, or a folder of them
 * @param numShards null means auto
 * @param auto chooses the number then
 * @param shardForm null means ranges where no record must change, else files
 * @param output where the merged file or the folder of parts will go
 * @param recipe null for an engine without one: then records stay as they are
 * @param made the input, where the job's script makes it; null for input that is there
 * @param ids null if records need none
 */
public record PrepareRequest(
        Layout.Job job,
        String jobId,
        Path datasetPath,
        @Nullable Integer numShards,
        AutoShards auto,
        @Nullable ShardForm shardForm,
        Execution execution,
        Policy policy,
        Path output,
        OutputForm outputForm,
        @Nullable RecipeFacts recipe,
        @Nullable ScriptInput made,
        @Nullable UniqueIds ids) {

    public PrepareRequest(
            Layout.Job job,
            String jobId,
            Path datasetPath,
            @Nullable Integer numShards,
            AutoShards auto,
            @Nullable ShardForm shardForm,
            Execution execution,
            Policy policy,
            Path output,
            OutputForm outputForm,
            @Nullable RecipeFacts recipe) {
        this(
                job,
                jobId,
                datasetPath,
                numShards,
                auto,
                shardForm,
                execution,
                policy,
                output,
                outputForm,
                recipe,
                null,
                null);
    }

    public PrepareRequest {
        datasetPath = datasetPath.toAbsolutePath().normalize();
        output = output.toAbsolutePath().normalize();
        if (Packing.of(output) != Packing.NONE) {
            throw new IntakeException("the output " + output + " has the name of a compressed file, but the merged file"
                    + " is plain text: name it without " + Packing.of(output).suffix());
        }
        if (numShards != null && numShards < 1) {
            throw new IntakeException("num_shards must be 1 or more, or auto; found " + numShards);
        }
    }

    /** The same with what is known of input of this size. */
    PrepareRequest ofInput(long bytes) {
        return with(datasetPath, numShards, auto.ofInput(bytes));
    }

    /** The same with input that lies elsewhere for now, and has so many records. */
    PrepareRequest reading(Path input, long rows) {
        return with(input, shardsOf(rows, 0), auto);
    }

    private PrepareRequest with(Path input, @Nullable Integer shards, AutoShards number) {
        return new PrepareRequest(
                job, jobId, input, shards, number, shardForm, execution, policy, output, outputForm, recipe, made, ids);
    }

    /** How many shards input of this many records and bytes of records is cut into. */
    int shardsOf(long rows, long bytes) {
        return numShards == null ? auto.of(rows, bytes) : numShards;
    }

    Map<String, String> mediaKeys() {
        return recipe == null ? Map.of() : recipe.mediaKeys();
    }

    List<String> indexKeys() {
        return recipe == null ? List.of() : recipe.indexKeys();
    }

    List<String> recipeWarnings() {
        return recipe == null ? List.of() : recipe.warnings();
    }
}
