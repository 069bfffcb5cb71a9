package dev.caravan.shard;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What a job tolerates. Retries are counted after the first failure: {@code maxRetries} 3 allows four failing attempts.
 *
 * @param maxRetries retries after failures of class data
 * @param maxInfraRetries retries after failures of class infra
 * @param maxTimeoutRetries retries after failures of class timeout
 * @param maxStalledRetries retries after failures of class stalled
 * @param attemptTimeout longest time of one run of the engine; zero means no limit
 * @param stallTimeout longest time in which neither log nor output of an attempt grows; zero means no limit
 * @param badRecords what becomes of input lines that are not records
 * @param poison what becomes of records that the engine fails on
 * @param speculate whether idle nodes make second attempts of slow shards; null leaves it to what a shard does
 */
public record Policy(
        int maxRetries,
        int maxInfraRetries,
        int maxTimeoutRetries,
        int maxStalledRetries,
        Duration attemptTimeout,
        Duration stallTimeout,
        BadRecords badRecords,
        Poison poison,
        @Nullable Boolean speculate) {

    public static final Policy DEFAULT = new Policy(3, 10, 1, 3, Duration.ZERO, Duration.ZERO);

    /** The same with other limits of one attempt. */
    public Policy with(int otherMaxRetries, Duration otherAttemptTimeout) {
        return new Policy(
                otherMaxRetries,
                maxInfraRetries,
                maxTimeoutRetries,
                maxStalledRetries,
                otherAttemptTimeout,
                stallTimeout,
                badRecords,
                poison,
                speculate);
    }

    /** The same, decided. */
    public Policy speculating(boolean decided) {
        return new Policy(
                maxRetries,
                maxInfraRetries,
                maxTimeoutRetries,
                maxStalledRetries,
                attemptTimeout,
                stallTimeout,
                badRecords,
                poison,
                decided);
    }

    public boolean speculates() {
        return Boolean.TRUE.equals(speculate);
    }

    /** Tolerates no bad record, and none that the engine fails on. */
    public Policy(
            int maxRetries,
            int maxInfraRetries,
            int maxTimeoutRetries,
            int maxStalledRetries,
            Duration attemptTimeout,
            Duration stallTimeout) {
        this(
                maxRetries,
                maxInfraRetries,
                maxTimeoutRetries,
                maxStalledRetries,
                attemptTimeout,
                stallTimeout,
                BadRecords.FAIL,
                Poison.DEFAULT,
                null);
    }

    public Policy {
        if (maxRetries < 0 || maxInfraRetries < 0 || maxTimeoutRetries < 0 || maxStalledRetries < 0) {
            throw new IllegalArgumentException("a number of retries is 0 or more");
        }
        if (attemptTimeout.isNegative() || stallTimeout.isNegative()) {
            throw new IllegalArgumentException("a timeout is 0 (none) or more");
        }
    }

    public int retries(FailureClass failure) {
        return switch (failure) {
            case DATA -> maxRetries;
            case INFRA -> maxInfraRetries;
            case STALLED -> maxStalledRetries;
            case TIMEOUT -> maxTimeoutRetries;
        };
    }
}
