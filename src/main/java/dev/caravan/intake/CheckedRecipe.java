package dev.caravan.intake;

import org.jspecify.annotations.Nullable;

/**
 * A recipe that may be run shard by shard.
 *
 * @param datasetPath what the recipe itself names as its input, absolute; null if nothing
 * @param numGpus GPUs that its operators ask for at once, 0 for none
 * @param hasSideEffects whether an operator may do something besides its result
 */
public record CheckedRecipe(RecipeFacts facts, @Nullable String datasetPath, double numGpus, boolean hasSideEffects) {}
