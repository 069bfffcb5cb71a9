package dev.caravan.shard;

import java.time.Duration;

/**
 * What a job tolerates. Retries are counted after the first failure: {@code maxRetries} 3 allows four failing attempts.
 *
 * @param maxRetries retries after failures of class data
 * @param maxInfraRetries retries after failures of class infra
 * @param maxTimeoutRetries retries after failures of class timeout
 * @param maxStalledRetries retries after failures of class stalled
 * @param attemptTimeout longest time of one run of the engine; zero means no limit
 * @param stallTimeout longest time in which neither log nor output of an attempt grows; zero means no limit
 * @param isolatePoison whether records that the engine fails on are found and set aside, so that the others complete
 * @param maxFailedRecords so many records of the job may be set aside; with one more the job fails
 * @param maxFailedPercent the same as a part of the job's records
 */
public record Policy(
        int maxRetries,
        int maxInfraRetries,
        int maxTimeoutRetries,
        int maxStalledRetries,
        Duration attemptTimeout,
        Duration stallTimeout,
        boolean isolatePoison,
        long maxFailedRecords,
        double maxFailedPercent) {

    public static final Policy DEFAULT = of(3, 10, 1, 3);

    /** With these retries, and everything else as it is by default. */
    public static Policy of(int maxRetries, int maxInfraRetries, int maxTimeoutRetries, int maxStalledRetries) {
        return new Policy(
                maxRetries,
                maxInfraRetries,
                maxTimeoutRetries,
                maxStalledRetries,
                Duration.ZERO,
                Duration.ZERO,
                false,
                100,
                100);
    }

    /** The same with other limits of one attempt. */
    public Policy with(int otherMaxRetries, Duration otherAttemptTimeout) {
        return new Policy(
                otherMaxRetries,
                maxInfraRetries,
                maxTimeoutRetries,
                maxStalledRetries,
                otherAttemptTimeout,
                stallTimeout,
                isolatePoison,
                maxFailedRecords,
                maxFailedPercent);
    }

    public Policy {
        if (maxRetries < 0 || maxInfraRetries < 0 || maxTimeoutRetries < 0 || maxStalledRetries < 0) {
            throw new IllegalArgumentException("a number of retries is 0 or more");
        }
        if (attemptTimeout.isNegative() || stallTimeout.isNegative()) {
            throw new IllegalArgumentException("a timeout is 0 (none) or more");
        }
        if (maxFailedRecords < 0 || !(maxFailedPercent >= 0 && maxFailedPercent <= 100)) {
            throw new IllegalArgumentException("a number of records is 0 or more, and a percentage at most 100");
        }
    }

    /** Of a job with so many records. */
    public long failedAllowed(long records) {
        return Math.min(maxFailedRecords, (long) (records * maxFailedPercent / 100));
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
