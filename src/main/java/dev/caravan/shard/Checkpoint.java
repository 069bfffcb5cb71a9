package dev.caravan.shard;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Asks that what is done of a shard stays done when its attempt fails.
 *
 * @param idColumn key of the records whose value tells each from all others
 * @param path folder that jobs after this one may go on with, absolute; null means one in the job directory
 * @param deleteOnSuccess whether the checkpoint is removed once the job is merged
 */
public record Checkpoint(String idColumn, @Nullable String path, boolean deleteOnSuccess) {

    /** What of the job, its recipe aside, decides what becomes of a record. */
    public Map<String, Object> identity(Policy policy) {
        return Map.of("id_column", idColumn, "isolate_poison", policy.poison().isolate());
    }
}
