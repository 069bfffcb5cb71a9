package dev.caravan.shard;

import java.time.Duration;

/**
 * The times that liveness rests on, all measured by each process's own monotonic clock.
 *
 * @param lease an observer that has watched a claim unchanged this long may take it over
 * @param heartbeat how often an owner beats
 * @param margin the owner gives up this long before an observer could take over
 */
public record Timing(Duration lease, Duration heartbeat, Duration margin) {
    public Timing {
        if (lease.compareTo(heartbeat.multipliedBy(4)) < 0) {
            throw new IllegalArgumentException(
                    "lease (" + lease + ") must be at least 4 x heartbeat (" + heartbeat + ")");
        }
        if (margin.isNegative() || margin.isZero() || margin.multipliedBy(2).compareTo(lease) >= 0) {
            throw new IllegalArgumentException(
                    "margin (" + margin + ") must be above 0 and below half the lease (" + lease + ")");
        }
    }

    /** How long an owner may go without a successful beat before it must fence itself. */
    public Duration ownersPatience() {
        return lease.minus(margin);
    }

    /** How often a running claim is looked at, so that a dead one is found within a lease and one heartbeat. */
    public Duration lookEvery() {
        return heartbeat.dividedBy(2);
    }
}
