package dev.caravan.doctor;

import dev.caravan.store.Mount;
import java.time.Duration;

/**
 * Lease and heartbeat for a mount.
 *
 * <p>With W the slowest durable write and D the longest time until another process saw a change:
 *
 * <pre>
 * heartbeat = max(least heartbeat, 20 W), in whole seconds
 * lease     = max(least lease, 4.5 heartbeat, 2 (heartbeat + D)), in steps of 5 s
 * </pre>
 *
 * <p>A beat is seen no later than heartbeat + D after the one before it, so twice that is never reached by an owner that
 * lives. The least values are the defaults, 10 s and 45 s; on a mount that only one machine can see, 2 s and 10 s.
 */
public record Recommendation(Duration lease, Duration heartbeat) {
    private static final Recommendation DEFAULTS = new Recommendation(Duration.ofSeconds(45), Duration.ofSeconds(10));
    private static final Recommendation LEAST_LOCAL = new Recommendation(Duration.ofSeconds(10), Duration.ofSeconds(2));
    private static final int WRITES_IN_A_BEAT = 20;
    private static final int LEASE_STEP = 5;
    private static final Duration NFS_ATTRIBUTE_CACHE = Duration.ofSeconds(60);

    static Recommendation of(boolean local, Duration slowestWrite, Duration longestDelay) {
        Recommendation least = local ? LEAST_LOCAL : DEFAULTS;
        long beat = Math.max(least.heartbeat.toSeconds(), seconds(slowestWrite.multipliedBy(WRITES_IN_A_BEAT)));
        long lease = Math.max(
                Math.max(least.lease.toSeconds(), (9 * beat + 1) / 2),
                seconds(longestDelay.plusSeconds(beat).multipliedBy(2)));
        long steps = (lease + LEASE_STEP - 1) / LEASE_STEP;
        return new Recommendation(Duration.ofSeconds(steps * LEASE_STEP), Duration.ofSeconds(beat));
    }

    private static long seconds(Duration duration) {
        return duration.plusNanos(999_999_999).toSeconds();
    }

    /** How long a mount may keep attributes by its own options; counts where no second node could measure it. */
    static Duration attributeCache(Mount mount) {
        if (!mount.type().startsWith("nfs") || mount.options().contains("noac")) {
            return Duration.ZERO;
        }
        Duration declared = NFS_ATTRIBUTE_CACHE;
        for (String option : mount.options()) {
            if (option.matches("(acregmax|actimeo)=\\d{1,9}")) {
                declared = Duration.ofSeconds(Long.parseLong(option.substring(option.indexOf('=') + 1)));
            }
        }
        return declared;
    }
}
