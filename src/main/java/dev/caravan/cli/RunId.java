package dev.caravan.cli;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What tells one submission of a job to a scheduler from the next; the same on all its nodes. */
final class RunId {
    /** Variables that schedulers set, in the order in which they are asked. Each task of an array has a job id of its own. */
    static final List<String> VARIABLES =
            List.of("PAI_JOB_ID", "DLC_JOB_ID", "JOB_ID", "SLURM_ARRAY_JOB_ID", "SLURM_JOB_ID");

    /** For runs that are started by hand: all of them are one. */
    static final String BY_HAND = "default";

    private RunId() {}

    static String of(@Nullable String given, Map<String, String> environment) {
        if (given != null && !given.isBlank()) {
            return given;
        }
        return VARIABLES.stream()
                .map(name -> environment.getOrDefault(name, ""))
                .filter(value -> !value.isBlank())
                .findFirst()
                .orElse(BY_HAND);
    }
}
