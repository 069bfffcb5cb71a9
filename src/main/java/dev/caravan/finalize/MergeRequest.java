package dev.caravan.finalize;

import dev.caravan.store.JobFiles;
import java.nio.file.Path;
import java.util.function.BooleanSupplier;

/**
 * @param output where the merged file goes, or the folder of parts
 * @param overwrite whether another file of that name may be replaced; a folder of parts never is
 * @param mergedBy the node, for the record
 * @param stillOwner whether this process may still publish; asked before each shard and each publication
 */
public record MergeRequest(JobFiles job, Path output, boolean overwrite, String mergedBy, BooleanSupplier stillOwner) {
    public MergeRequest {
        output = output.toAbsolutePath().normalize();
    }
}
