package dev.caravan.node;

import dev.caravan.claim.ShardClaims;
import dev.caravan.claim.WorkSource;
import dev.caravan.lease.Claimed;
import dev.caravan.lease.ClaimedRole;
import dev.caravan.lease.ClaimedShard;
import dev.caravan.shard.Role;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/** Where this node's {@code claim:} endpoints get their work: from all its jobs in turn, until the node drains. */
final class NodeWork {
    private final ActiveJobs jobs;
    private final long listEveryNanos;
    private final OptionalInt maxShards;
    private final AtomicInteger claimedShards = new AtomicInteger();
    private final AtomicInteger turn = new AtomicInteger();
    private final Map<Claimed, ShardClaims> running = new ConcurrentHashMap<>();
    private volatile boolean draining;
    private volatile long idleSince = System.nanoTime();

    /** @param maxShards how many shards this node claims before it takes no more */
    NodeWork(ActiveJobs jobs, long listEveryNanos, OptionalInt maxShards) {
        this.jobs = jobs;
        this.listEveryNanos = listEveryNanos;
        this.maxShards = maxShards;
    }

    /** From now on nothing is claimed. */
    void drain() {
        draining = true;
    }

    boolean isDraining() {
        return draining;
    }

    /** Whether the node has claimed all that it may and works on none of it any more. */
    boolean isSpent() {
        return maxShards.isPresent() && claimedShards.get() >= maxShards.getAsInt() && running.isEmpty();
    }

    /** How long this node has had no shard to work on. */
    long idleNanos() {
        return running.isEmpty() ? System.nanoTime() - idleSince : 0;
    }

    WorkSource shards() {
        return new WorkSource() {
            @Override
            public Optional<ClaimedShard> claimNext() throws IOException {
                return claimShard();
            }

            @Override
            public void finished(Claimed work) {
                ShardClaims claims = running.remove(work);
                if (claims != null) {
                    claims.finished((ClaimedShard) work);
                    idleSince = System.nanoTime();
                }
            }
        };
    }

    private Optional<ClaimedShard> claimShard() throws IOException {
        List<ActiveJob> candidates = jobs.unended();
        int start = turn.getAndIncrement() & Integer.MAX_VALUE;
        for (int i = 0; i < candidates.size() && !draining; i++) {
            ActiveJob job = candidates.get((start + i) % candidates.size());
            Optional<ShardClaims> claims =
                    job.shards().filter(prepared -> job.refused().isEmpty());
            if (claims.isPresent() && reserve()) {
                Optional<ClaimedShard> shard = Optional.empty();
                try {
                    shard = claims.get().claimNext();
                } finally {
                    shard.ifPresentOrElse(found -> running.put(found, claims.get()), claimedShards::decrementAndGet);
                }
                if (shard.isPresent()) {
                    return shard;
                }
            }
        }
        return Optional.empty();
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
                for (ActiveJob job : jobs.unended()) {
                    if (!draining && job.phase(listEveryNanos) == phase) {
                        Optional<ClaimedRole> claimed = job.claim(role);
                        if (claimed.isPresent()) {
                            return claimed;
                        }
                    }
                }
                return Optional.empty();
            }

            @Override
            public void finished(Claimed work) {
                // its result, if any, is a fact on the disk: the next listing tells
            }
        };
    }
}
