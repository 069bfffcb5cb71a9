package dev.caravan.job;

import dev.caravan.settings.Durations;
import dev.caravan.shard.Engine;
import dev.caravan.shard.Policy;
import java.time.Duration;

/** The section {@code policy} of a descriptor. */
final class PolicyFields {
    private PolicyFields() {}

    static Policy read(Fields policy, Engine engine) {
        return new Policy(
                retries(policy, "max_retries", Policy.DEFAULT.maxRetries()),
                retries(policy, "max_infra_retries", Policy.DEFAULT.maxInfraRetries()),
                retries(policy, "max_timeout_retries", Policy.DEFAULT.maxTimeoutRetries()),
                retries(policy, "max_stalled_retries", Policy.DEFAULT.maxStalledRetries()),
                timeout(policy, "attempt_timeout", Policy.DEFAULT.attemptTimeout()),
                timeout(policy, "stall_timeout", Policy.DEFAULT.stallTimeout()),
                BadRecordFields.read(policy),
                PoisonFields.read(policy, engine),
                policy.parsed("speculate", Numbers.YES_OR_NO, Numbers::yesOrNo).orElse(null));
    }

    private static int retries(Fields policy, String name, int otherwise) {
        String expected = "expected a whole number of at least 0";
        return policy.parsed(name, expected, text -> Numbers.whole(text, 0, expected))
                .orElse(otherwise);
    }

    private static Duration timeout(Fields policy, String name, Duration otherwise) {
        return policy.parsed(name, Durations.EXPECTED, Durations::parse).orElse(otherwise);
    }
}
