package dev.caravan.python;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What the Python side says about a recipe.
 *
 * @param mediaKeys record keys that hold media paths, by kind: image, audio, video
 * @param indexKeys record keys that operators read a row number from
 * @param datasetPath as written in the recipe; null if it names none
 * @param customOperatorPaths absolute
 * @param needsGpu whether an operator asks Ray for a GPU
 * @param sideEffects whether an operator may do something besides its result, such as write to a folder
 * @param checkpoint whether a shard can be gone on with where an attempt has left it
 */
public record RecipeCheck(
        boolean ok,
        List<Problem> problems,
        List<String> warnings,
        List<Operator> operators,
        Map<String, String> mediaKeys,
        List<String> indexKeys,
        @Nullable String datasetPath,
        List<String> customOperatorPaths,
        boolean needsGpu,
        boolean sideEffects,
        String codeVersion,
        Checkpoint checkpoint) {

    public RecipeCheck {
        problems = List.copyOf(problems);
        warnings = List.copyOf(warnings);
        operators = List.copyOf(operators);
        mediaKeys = Map.copyOf(mediaKeys);
        indexKeys = List.copyOf(indexKeys);
        customOperatorPaths = List.copyOf(customOperatorPaths);
    }

    /** @param where file, line and place, as in {@code recipe.yaml:12: process[2].some_mapper} */
    public record Problem(String where, String message) {}

    /**
     * @param obstacles why not
     * @param identity what must be the same for that
     */
    public record Checkpoint(List<Problem> obstacles, Map<String, Object> identity) {}

    /**
     * @param kind mapper or filter
     * @param numGpus null if the recipe does not say
     */
    public record Operator(
            String name, String kind, @Nullable Double numGpus) {}

    /** The largest number of GPUs that one task of one operator asks for; 0 for none. */
    public double mostGpus() {
        return operators.stream()
                .mapToDouble(operator -> operator.numGpus() == null ? 0 : operator.numGpus())
                .max()
                .orElse(0);
    }
}
