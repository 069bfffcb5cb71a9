package dev.caravan.finalize;

import dev.caravan.store.JobFiles;
import java.nio.file.Path;
import java.util.function.BooleanSupplier;

/**
 * @param output where the merged file goes
 * @param overwrite whether another file of that name may be replaced
 * @param mergedBy the node, for the record
 * @param stillOwner whether this process may still publish; asked before each shard and each publication
 */
public record MergeRequest(JobFiles job, Path output, boolean overwrite, String mergedBy, BooleanSupplier stillOwner) {
    public MergeRequest {
        output = output.toAbsolutePath().normalize();
    }
}
