package dev.caravan.lease;

import dev.caravan.shard.Claim;
import dev.caravan.shard.ClaimStatus;
import dev.caravan.shard.Timing;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What this observer has seen of other nodes' claims, and what it may conclude: a claim is dead if it was watched
 * unchanged for a whole lease on this observer's own monotonic clock. Sights are handed in; no I/O. Not thread-safe.
 */
class Watch {
    /** Leases of this many nodes that look dead at once, with no beat of anybody, point to the mount and not the nodes. */
    static final int MASS = 3;

    private final long leaseNanos;
    private final long longestGap;
    private final Map<String, Seen> seen = new HashMap<>();
    private @Nullable Long lastBeatOfAnybody;
    private @Nullable Long lastMassStall;

    /**
     * @param since when the first look that saw the claim as it is now had its answer, without a gap in watching
     * @param lastLook when the last look was asked for: it says nothing of the time after
     */
    record Seen(long epoch, Optional<Claim> claim, Object beat, long since, long lastLook) {}

    Watch(Timing timing) {
        this.leaseNanos = timing.lease().toNanos();
        this.longestGap = leaseNanos / 2;
    }

    /**
     * @param beat anything that differs after a beat
     * @param asked when the look began
     * @param answered when it had its answer
     */
    Seen sight(String key, long epoch, Optional<Claim> claim, Object beat, long asked, long answered) {
        Seen before = seen.get(key);
        boolean sameClaim =
                before != null && before.epoch() == epoch && before.claim().equals(claim);
        boolean unchanged = sameClaim && Objects.equals(before.beat(), beat);
        boolean watchedThroughout = before != null && answered - before.lastLook() <= longestGap;
        if (sameClaim && !unchanged) {
            isMassStall(answered); // this beat ends it: remember that it was
            lastBeatOfAnybody = answered;
        }
        Seen current = new Seen(epoch, claim, beat, unchanged && watchedThroughout ? before.since() : answered, asked);
        seen.put(key, current);
        return current;
    }

    Optional<Seen> of(String key) {
        return Optional.ofNullable(seen.get(key));
    }

    void forget(String key) {
        seen.remove(key);
    }

    Set<String> keys() {
        return Set.copyOf(seen.keySet());
    }

    private boolean looksDead(Seen claim, long now) {
        return running(claim) && claim.lastLook() - claim.since() >= leaseNanos && now - claim.lastLook() <= longestGap;
    }

    private static boolean running(Seen claim) {
        return claim.claim().map(c -> c.status() == ClaimStatus.RUNNING).orElse(true);
    }

    /** May the claim be taken over now? */
    boolean isDead(String key, long now) {
        Seen claim = seen.get(key);
        if (claim == null || !looksDead(claim, now)) {
            return false;
        }
        return !isMassStall(now) || claim.lastLook() - claim.since() >= 2 * leaseNanos;
    }

    /** While true the mount is the suspect and not the nodes. */
    boolean isMassStall(long now) {
        if (lastBeatOfAnybody != null && now - lastBeatOfAnybody < leaseNanos) {
            return false;
        }
        Set<String> nodes = new HashSet<>();
        for (Seen claim : seen.values()) {
            if (looksDead(claim, now)) {
                nodes.add(claim.claim().map(Claim::node).orElse("?"));
            }
        }
        boolean stall = nodes.size() >= MASS;
        if (stall) {
            lastMassStall = now;
        }
        return stall;
    }

    /** Whether a dead claim's budget pays for its death: not if it stopped in a mass stall, also once that is over. */
    boolean isCharged(String key, long now) {
        Seen claim = seen.get(key);
        return !isMassStall(now) && (claim == null || lastMassStall == null || claim.since() - lastMassStall >= 0);
    }
}
