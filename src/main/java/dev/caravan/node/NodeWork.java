package dev.caravan.node;

import dev.caravan.claim.NextLook;
import dev.caravan.claim.ShardClaims;
import dev.caravan.claim.WorkSource;
import dev.caravan.exec.Slots;
import dev.caravan.lease.Claimed;
import dev.caravan.lease.ClaimedRole;
import dev.caravan.lease.ClaimedShard;
import dev.caravan.shard.ClaimStatus;
import dev.caravan.shard.GpuDemand;
import dev.caravan.shard.Role;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.ToIntFunction;

/**
 * Where this node's {@code claim:} endpoints get their work: from all its jobs by priority, in turn among equals, until
 * the node drains.
 */
final class NodeWork {
    private static final String LEAVING = "the node leaves";

    private final ActiveJobs jobs;
    private final long listEveryNanos;
    private final OptionalInt maxShards;
    private final DiskGuard disk;
    private final AtomicInteger claimedShards = new AtomicInteger();
    private final AtomicInteger turn = new AtomicInteger();
    private final Slots slots;
    /** By the token of the claim: work itself would be compared with its whole manifest. */
    private final Map<String, ActiveJob> held = new ConcurrentHashMap<>();

    private final NextLook nextLook = new NextLook(System::nanoTime);
    private volatile boolean draining;
    /** Work that is held, and attempts to get some. */
    private final AtomicInteger busy = new AtomicInteger();

    /** @param maxShards how many shards this node claims before it takes no more */
    NodeWork(ActiveJobs jobs, Slots slots, long listEveryNanos, OptionalInt maxShards, DiskGuard disk) {
        this.disk = disk;
        this.jobs = jobs;
        this.slots = slots;
        this.listEveryNanos = listEveryNanos;
        this.maxShards = maxShards;
    }

    /** From now on nothing is claimed, and what waits for a slot is given back. */
    void drain() {
        draining = true;
        slots.close(LEAVING);
    }

    NextLook nextLook() {
        return nextLook;
    }

    boolean isDraining() {
        return draining;
    }

    /** Whether the node has claimed all that it may and works on none of it any more. */
    boolean isSpent() {
        return maxShards.isPresent() && claimedShards.get() >= maxShards.getAsInt() && busy.get() == 0;
    }

    /** How long this node has looked for work in vain: no shard, no role. */
    long idleNanos() {
        return busy.get() == 0 ? nextLook.idleNanos() : 0;
    }

    /** Counted before the work is there, so that the node never leaves between a claim and its work. */
    private <T extends Claimed> Optional<T> busyWith(Search<T> search) throws IOException {
        busy.incrementAndGet();
        Optional<T> found = Optional.empty();
        try {
            found = search.claimNext();
            return found;
        } finally {
            if (found.isPresent()) {
                nextLook.busy();
            } else {
                rest();
            }
        }
    }

    private interface Search<T extends Claimed> {
        Optional<T> claimNext() throws IOException;
    }

    private void rest() {
        if (busy.decrementAndGet() == 0) {
            nextLook.idle();
        }
    }

    WorkSource shards() {
        return new WorkSource() {
            @Override
            public Optional<ClaimedShard> claimNext() throws IOException {
                try {
                    slots.awaitRoom();
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                    return Optional.empty();
                }
                return busyWith(NodeWork.this::claimShard);
            }

            @Override
            public void finished(Claimed work) {
                ClaimedShard shard = (ClaimedShard) work;
                slots.leave(token(shard));
                if (shard.lease().end().equals(Optional.of(ClaimStatus.RELEASED))) {
                    claimedShards.decrementAndGet();
                }
                ShardClaims claims = claimsOf(Objects.requireNonNull(held.remove(token(shard))));
                claims.finished(shard);
                rest();
                if (claims.isSettled()) {
                    nextLook.tellNews();
                }
            }

            @Override
            public NextLook nextLook() {
                return nextLook;
            }
        };
    }

    private static String token(ClaimedShard shard) {
        return shard.lease().claim().token();
    }

    private static ShardClaims claimsOf(ActiveJob job) {
        return job.shards().orElseThrow();
    }

    private Optional<ClaimedShard> claimShard() throws IOException {
        if (disk.trouble() != null) {
            return Optional.empty();
        }
        int start = turn.getAndIncrement() & Integer.MAX_VALUE;
        List<ActiveJob> inTurn = inTurn(jobs.unended(), ActiveJob::priority, start);
        Optional<ClaimedShard> shard = firstOf(inTurn, this::claimShardOf);
        boolean mayTakeAnothers = maxShards.isEmpty(); // else each node is to do its own part
        return shard.isEmpty() && mayTakeAnothers ? firstOf(inTurn, this::speculateOn) : shard;
    }

    private interface Claiming {
        Optional<ClaimedShard> of(ActiveJob job, ShardClaims claims) throws IOException;
    }

    private Optional<ClaimedShard> firstOf(List<ActiveJob> inTurn, Claiming way) throws IOException {
        for (ActiveJob job : inTurn) {
            Optional<ShardClaims> claims = draining ? Optional.empty() : job.openShards();
            Optional<ClaimedShard> shard = claims.isPresent() ? way.of(job, claims.get()) : Optional.empty();
            if (shard.isPresent()) {
                return shard;
            }
        }
        return Optional.empty();
    }

    /** @param ordered by priority; those with the same are turned round by {@code start} */
    static <T> List<T> inTurn(List<T> ordered, ToIntFunction<T> priority, int start) {
        List<T> all = new ArrayList<>(ordered);
        for (int from = 0, to; from < all.size(); from = to) {
            int equal = priority.applyAsInt(all.get(from));
            for (to = from + 1; to < all.size() && priority.applyAsInt(all.get(to)) == equal; ) {
                to++;
            }
            Collections.rotate(all.subList(from, to), -(start % (to - from)));
        }
        return all;
    }

    /** Its place comes first: a claim that waited for devices would keep the shard from a node that has them. */
    private Optional<ClaimedShard> claimShardOf(ActiveJob job, ShardClaims claims) throws IOException {
        GpuDemand devices = claims.manifest().execution().ray().gpuDemand();
        Optional<ClaimedShard> shard = claimInto(slots.take(devices), job, claims::claimNext);
        return shard.isPresent()
                ? shard
                : claimInto(
                        slots.takeAhead(devices),
                        job,
                        () -> whyNotAhead(job).isPresent() ? Optional.empty() : claims.claimAhead(ahead(job)));
    }

    private Optional<ClaimedShard> speculateOn(ActiveJob job, ShardClaims claims) throws IOException {
        return claimInto(slots.take(claims.manifest().execution().ray().gpuDemand()), job, claims::speculate);
    }

    private Optional<ClaimedShard> claimInto(Optional<Slots.Place> place, ActiveJob job, Search<ClaimedShard> search)
            throws IOException {
        if (place.isEmpty()) {
            return Optional.empty();
        }
        Optional<ClaimedShard> shard = Optional.empty();
        boolean reserved = reserve();
        try {
            shard = reserved ? search.claimNext() : Optional.empty();
        } finally {
            if (shard.isPresent()) {
                slots.assign(token(shard.get()), place.get());
                held.put(token(shard.get()), job);
            } else {
                slots.leave(place.get());
                if (reserved) {
                    claimedShards.decrementAndGet();
                }
            }
        }
        return shard;
    }

    /** Gives back what waits for a slot and should no more. */
    void reviewAhead() throws IOException {
        for (Map.Entry<String, ActiveJob> each : held.entrySet()) {
            if (slots.isWaiting(each.getKey())) {
                whyNotAhead(each.getValue()).ifPresent(why -> slots.giveBack(each.getKey(), why));
            }
        }
    }

    private int ahead(ActiveJob job) {
        return (int) held.entrySet().stream()
                .filter(each -> each.getValue() == job && slots.isWaiting(each.getKey()))
                .count();
    }

    /** Why no shard of this job should wait here for a slot. */
    private Optional<String> whyNotAhead(ActiveJob job) throws IOException {
        if (draining) {
            return Optional.of(LEAVING);
        }
        if (disk.trouble() != null) {
            return Optional.ofNullable(disk.trouble());
        }
        if (job.openShards().isEmpty()) {
            return Optional.of("its job was paused or cancelled");
        }
        if (isOutranked(job)) {
            return Optional.of("a job of greater priority has shards left");
        }
        return claimsOf(job).leavesEnoughFor(ahead(job))
                ? Optional.empty()
                : Optional.of("few shards are left, so it is for whoever is idle");
    }

    private boolean isOutranked(ActiveJob job) throws IOException {
        for (ActiveJob other : jobs.unended()) { // by priority
            if (other.priority() <= job.priority()) {
                return false;
            }
            if (other.openShards().filter(ShardClaims::hasNeverClaimed).isPresent()) {
                return true;
            }
        }
        return false;
    }

    /** Counts a claim before it is made, so that several slots together never take more than they may. */
    private boolean reserve() {
        int most = maxShards.orElse(Integer.MAX_VALUE);
        return claimedShards.getAndUpdate(claimed -> claimed < most ? claimed + 1 : claimed) < most;
    }

    WorkSource roles(Role role, ActiveJob.Phase phase) {
        return new WorkSource() {
            @Override
            public Optional<ClaimedRole> claimNext() throws IOException {
                return busyWith(() -> claimRole(role, phase));
            }

            @Override
            public void finished(Claimed work) {
                rest(); // its result, if any, is a fact on the disk: the next listing tells
                nextLook.tellNews();
            }

            @Override
            public NextLook nextLook() {
                return nextLook;
            }
        };
    }

    private Optional<ClaimedRole> claimRole(Role role, ActiveJob.Phase phase) throws IOException {
        for (ActiveJob job : jobs.unended()) {
            if (!draining && job.phase(nextLook.waitNanos(listEveryNanos)) == phase) {
                Optional<ClaimedRole> claimed = job.claim(role);
                if (claimed.isPresent()) {
                    return claimed;
                }
            }
        }
        return Optional.empty();
    }
}
