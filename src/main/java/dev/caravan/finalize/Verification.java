package dev.caravan.finalize;

import dev.caravan.shard.ShardId;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What was checked of a job, step by step from the input to the merged file, and what was found wrong. */
public record Verification(boolean ok, List<Step> steps) {
    public Verification {
        steps = List.copyOf(steps);
    }

    static Verification of(List<Step> steps) {
        return new Verification(steps.stream().allMatch(Step::ok), steps);
    }

    /** Those shown of all steps. */
    public List<Finding> findings() {
        return steps.stream().flatMap(step -> step.findings().stream()).toList();
    }

    /**
     * @param summary what was looked at, with numbers
     * @param sha256 of all bytes that the step is about, in order; null where there are none, or some are missing
     * @param problems how many there are
     * @param findings the first of them
     */
    public record Step(
            String name,
            boolean ok,
            String summary,
            @Nullable String sha256,
            long problems,
            List<Finding> findings) {
        public Step {
            findings = List.copyOf(findings);
        }
    }

    /**
     * @param shard null if the problem is not of one shard
     * @param file absolute; where to look
     * @param problem what was expected, what was found
     */
    public record Finding(@Nullable ShardId shard, String file, String problem) {
        @Override
        public String toString() {
            return (shard == null ? "" : shard + ": ") + file + ": " + problem;
        }
    }
}
