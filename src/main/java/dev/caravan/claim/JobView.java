package dev.caravan.claim;

import dev.caravan.shard.ShardId;
import dev.caravan.store.JobFiles;
import dev.caravan.store.LeaseStore;
import java.io.IOException;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.stream.Stream;

/**
 * What a node knows of the state of a job's shards: three listings, however many shards there are, and what it learned
 * by itself since. Done stays done. Thread-safe.
 */
final class JobView {
    /** A listing that took long (many shards, slow mount) is repeated less often: at most a tenth of the time goes there. */
    private static final int COST_FACTOR = 10;

    /** But not for longer than this: it may have been the node that was frozen, or the mount that hung for once. */
    private static final long LONGEST_REST = TimeUnit.SECONDS.toNanos(30);

    private final JobFiles job;
    private final LeaseStore locks;
    private final LongSupplier nanoClock;
    private final Set<ShardId> done = new HashSet<>();
    private Set<ShardId> failed = Set.of();
    private final Map<ShardId, Long> failedAsOf = new HashMap<>();
    private Map<ShardId, Long> highest = new HashMap<>();
    private long listedAt;
    private long rest;
    private boolean listed;
    /** Results of an earlier job that were taken over without a claim. */
    private int doneUnclaimed;

    JobView(JobFiles job, LeaseStore locks, LongSupplier nanoClock) {
        this.job = job;
        this.locks = locks;
        this.nanoClock = nanoClock;
    }

    /** Lists again unless that was done a moment ago. @return whether it listed */
    boolean refresh(long noSoonerThanNanos) throws IOException {
        long began = nanoClock.getAsLong();
        synchronized (this) {
            if (listed && began - listedAt < Math.max(noSoonerThanNanos, rest)) {
                return false;
            }
        }
        Map<ShardId, Long> epochs = new HashMap<>();
        locks.highestEpochs().forEach((key, epoch) -> epochs.put(ShardId.parse(key), epoch));
        Set<ShardId> failures = job.failedShards();
        Set<ShardId> results = job.doneShards();
        synchronized (this) {
            highest.forEach((shard, epoch) -> epochs.merge(shard, epoch, Math::max)); // epochs only grow
            highest = epochs;
            failed = failures;
            done.addAll(results);
            doneUnclaimed = (int)
                    done.stream().filter(shard -> !highest.containsKey(shard)).count();
            listedAt = nanoClock.getAsLong();
            rest = Math.min((listedAt - began) * COST_FACTOR, LONGEST_REST);
            listed = true;
        }
        return true;
    }

    synchronized boolean isDone(ShardId shard) {
        return done.contains(shard);
    }

    synchronized boolean isFailed(ShardId shard) {
        return !done.contains(shard) && hasFailure(shard);
    }

    synchronized boolean isSettled(ShardId shard) {
        return done.contains(shard) || hasFailure(shard);
    }

    private boolean hasFailure(ShardId shard) {
        return failed.contains(shard) || failedAsOf.getOrDefault(shard, 0L) >= Math.max(1, highestEpoch(shard));
    }

    synchronized long highestEpoch(ShardId shard) {
        return highest.getOrDefault(shard, 0L);
    }

    synchronized void learnDone(ShardId shard) {
        done.add(shard);
    }

    /** The owner of this epoch found the budget used up. A higher epoch is a retry that somebody asked for. */
    synchronized void learnFailed(ShardId shard, long epoch) {
        failedAsOf.put(shard, epoch);
    }

    synchronized void learnEpoch(ShardId shard, long epoch) {
        highest.merge(shard, epoch, Math::max);
    }

    /** Shards that nobody has claimed yet, of so many in all. */
    synchronized int neverClaimed(int shards) {
        return shards - highest.size() - doneUnclaimed;
    }

    /** Shards that were claimed and are not settled. */
    synchronized int claimedAndOpen() {
        return highest.size() + doneUnclaimed - done.size() - failedCount();
    }

    synchronized int doneCount() {
        return done.size();
    }

    synchronized int failedCount() {
        return (int) Stream.concat(failed.stream(), failedAsOf.keySet().stream())
                .distinct()
                .filter(this::isFailed)
                .count();
    }
}
