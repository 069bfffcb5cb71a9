package dev.caravan.job;

import dev.caravan.shard.PlanExecute;
import java.util.List;
import java.util.Optional;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/** What a descriptor says of engine plan-execute. */
final class PlanExecuteFields {
    static final String SECTION = "plan_execute";
    private static final String AT_LEAST_1 = "expected a whole number of at least 1";
    private static final String AT_LEAST_0 = "expected a whole number of at least 0";

    private PlanExecuteFields() {}

    /** @param resolve a field's path, absolute */
    static PlanExecute read(Fields section, BiFunction<Fields, String, @Nullable String> resolve) {
        @Nullable String sink = resolve.apply(section, "sink");
        boolean resume = yes(section, "resume");
        List<String> rerun = section.texts("rerun_failed");
        if (resume && sink == null) {
            section.refuse("resume", "expected only with a sink, which says what is done; found none");
        }
        if (!rerun.isEmpty() && !resume) {
            section.refuse("rerun_failed", "expected only with resume: true, found no resume");
        }
        rerun.stream()
                .filter(kind -> !PlanExecute.KINDS.contains(kind))
                .forEach(kind -> section.refuse(
                        "rerun_failed", "expected some of " + PlanExecute.KINDS + ", found '" + kind + "'"));
        return new PlanExecute(
                section.parsed("workers", AT_LEAST_1, text -> Numbers.whole(text, 1, AT_LEAST_1))
                        .orElse(null),
                section.parsed("per_worker", AT_LEAST_1, text -> Numbers.whole(text, 1, AT_LEAST_1))
                        .orElse(1),
                section.parsed("retries", AT_LEAST_0, text -> Numbers.whole(text, 0, AT_LEAST_0))
                        .orElse(PlanExecute.RETRIES),
                yes(section, "generate_ids"),
                section.parsed("limit", AT_LEAST_0, text -> (long) Numbers.whole(text, 0, AT_LEAST_0))
                        .orElse(0L),
                sink,
                resume,
                rerun,
                section.texts("labels"));
    }

    private static boolean yes(Fields section, String name) {
        Optional<Boolean> said = section.parsed(name, "expected true or false", Numbers::yesOrNo);
        return said.orElse(false);
    }
}
