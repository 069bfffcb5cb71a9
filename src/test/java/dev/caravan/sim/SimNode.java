package dev.caravan.sim;

import dev.caravan.claim.ShardClaims;
import dev.caravan.lease.ClaimedShard;
import dev.caravan.lease.Heart;
import dev.caravan.lease.LeaseLostException;
import dev.caravan.shard.Claim;
import dev.caravan.shard.ClaimStatus;
import dev.caravan.shard.DoneRecord;
import dev.caravan.shard.FailureClass;
import dev.caravan.shard.Ledger;
import dev.caravan.shard.NodeIdentity;
import java.io.IOException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * One node of one slot: the real claims and heart, driven by strands that stand for the threads of a process. What the
 * exec route does with a claimed shard is told here again in short: wait for the slot, work for a while, leave the slot,
 * then publish or fail. Two strands do so in turn, so that one shard may wait while another is worked on.
 */
final class SimNode implements Scheduler.Process {
    private static final long SECOND = 1_000_000_000L;
    private static final long POLL = 2 * SECOND;
    private static final int WATCHED = 32;
    private static final int CARRIERS = 2;

    private final Simulation simulation;
    private final Scheduler scheduler;
    private final int number;
    private final long joinedAt;
    private final long clockOffset;
    private final double drift;
    private Duration skew;
    private final Heart heart;
    private final Invariants invariants;
    private @Nullable ShardClaims claims;
    private @Nullable Object beating;
    private boolean dead;
    private long diedAt = Long.MAX_VALUE;
    private long frozenUntil;
    private long hungUntil;
    private long troubledUntil;
    private @Nullable ClaimedShard working;
    private @Nullable ClaimedShard superseded;
    private boolean draining;
    private boolean gone;
    private long idleSince = Long.MAX_VALUE;
    private int carriers = CARRIERS;
    private boolean claiming;
    private boolean inSlot;
    private @Nullable ClaimedShard ahead;
    private long aheadSince = Long.MAX_VALUE;

    SimNode(Simulation simulation, int number, long clockOffset, double drift, Duration skew) {
        this.simulation = simulation;
        this.scheduler = simulation.scheduler();
        this.invariants = simulation.invariants();
        this.number = number;
        this.joinedAt = scheduler.now();
        this.clockOffset = clockOffset;
        this.drift = drift;
        this.skew = skew;
        this.heart = new Heart(simulation.plan().timing(), this::nanos, wallClock());
    }

    /** All nodes share host name and process id, as containers may. */
    NodeIdentity identity() {
        return new NodeIdentity("n" + number, "host", 7);
    }

    Heart heart() {
        return heart;
    }

    int number() {
        return number;
    }

    void join(ShardClaims with) {
        claims = with;
        long beat = heart.timing().heartbeat().toNanos();
        for (int i = 0; i < CARRIERS; i++) {
            scheduler.start(scheduler.now(), this, this::work);
        }
        scheduler.start(scheduler.now() + beat, this, () -> repeat(beat, this::beat));
        long look = heart.timing().lookEvery().toNanos();
        scheduler.start(
                scheduler.now() + look,
                this,
                () -> repeat(look, () -> {
                    noticeSuperseded();
                    with.watch(WATCHED, look);
                }));
        judgeEach(Math.min(heart.timing().margin().toNanos() / 10, SECOND));
    }

    private void judgeEach(long nanos) {
        scheduler.at(scheduler.now() + nanos, this, () -> {
            heart.judge();
            if (!gone) {
                judgeEach(nanos);
            }
        });
    }

    private void noticeSuperseded() {
        ClaimedShard shard = working;
        if (shard != null && shard.manifest().policy().speculates() && shard.isDoneElsewhere()) {
            superseded = shard;
        }
    }

    private void beat() {
        beating = scheduler.running();
        heart.beat();
    }

    /** Whether the strand that runs now is the one that beats. */
    boolean isBeating() {
        return beating == scheduler.running();
    }

    private interface Step {
        void run() throws IOException;
    }

    private void repeat(long delay, Step step) {
        while (!gone) {
            quietly(step);
            scheduler.sleep(delay);
        }
    }

    private void quietly(Step step) {
        try {
            step.run();
        } catch (IOException | RuntimeException e) {
            simulation.trace().line(this, "goes on after " + e);
        }
    }

    private void work() {
        while (!draining) {
            Optional<ClaimedShard> claimed = claim();
            if (claimed.isPresent()) {
                idleSince = Long.MAX_VALUE;
                quietly(() -> attempt(claimed.get()));
            } else {
                if (!inSlot) {
                    idleSince = Math.min(idleSince, scheduler.now());
                }
                scheduler.sleep(POLL);
            }
        }
        if (--carriers == 0) {
            gone = true;
            simulation.trace().line(this, "leaves");
        }
    }

    /** One strand at a time: for the slot if it is free and nobody waits for it, else ahead. */
    private Optional<ClaimedShard> claim() {
        while (claiming) {
            scheduler.sleep(SECOND / 10);
        }
        claiming = true;
        Optional<ClaimedShard> claimed = Optional.empty();
        boolean forSlot = !inSlot && ahead == null;
        try {
            if (forSlot) {
                inSlot = true;
                claimed = claims().claimNext();
                if (claimed.isEmpty() && !draining) {
                    claimed = claims().speculate();
                }
            } else if (ahead == null) {
                claimed = claims().claimAhead(0);
            }
        } catch (IOException | RuntimeException e) {
            simulation.trace().line(this, "no claim: " + e);
        }
        claiming = false;
        if (forSlot) {
            inSlot = claimed.isPresent();
        } else if (claimed.isPresent()) {
            ahead = claimed.get();
            aheadSince = scheduler.now();
        }
        return claimed;
    }

    private void attempt(ClaimedShard shard) throws IOException {
        try {
            Ownership ownership = invariants.begins(this, shard);
            boolean[] lost = {false};
            shard.lease().onLost(() -> {
                lost[0] = true;
                ownership.giveUp();
            });
            if (shard == ahead && !entersSlot(shard, lost)) {
                return;
            }
            Simulation.Attempt attempt = simulation.attemptAt(shard.shard().id());
            try {
                workInSlot(shard, attempt, lost);
            } finally {
                working = null;
                inSlot = false;
            }
            conclude(shard, lost[0], attempt.failure());
        } finally {
            claims().finished(shard);
        }
    }

    private void workInSlot(ClaimedShard shard, Simulation.Attempt attempt, boolean[] lost) {
        simulation.trace().line(this, "works on " + shard);
        working = shard;
        long end = scheduler.now() + attempt.nanos();
        while (scheduler.now() < end && !lost[0] && !draining && superseded != shard) {
            scheduler.sleep(Math.min(SECOND, end - scheduler.now()));
        }
        if (lost[0]) {
            scheduler.sleep(simulation.stoppingTakes());
        }
    }

    /** @return false if the shard is given back instead */
    private boolean entersSlot(ClaimedShard shard, boolean[] lost) {
        simulation.trace().line(this, "holds ahead " + shard);
        while (inSlot && !lost[0] && !draining && claims().leavesEnoughFor(1)) {
            scheduler.sleep(SECOND);
        }
        ahead = null;
        aheadSince = Long.MAX_VALUE;
        if (!inSlot && !lost[0] && !draining) {
            inSlot = true;
            idleSince = Long.MAX_VALUE;
            return true;
        }
        simulation.trace().line(this, "gives back " + shard);
        shard.lease().end(ClaimStatus.RELEASED, null, "before it began");
        return false;
    }

    /** As the exec route and its error handler do. */
    private void conclude(ClaimedShard shard, boolean lost, @Nullable FailureClass failure) {
        try {
            if (lost || !shard.lease().isHeld()) {
                throw new LeaseLostException("stopped");
            } else if ((superseded == shard || draining || failure != null) && shard.isDoneElsewhere()) {
                shard.supersede();
                simulation.trace().line(this, "gives up " + shard);
            } else if (draining) {
                shard.lease().end(ClaimStatus.PREEMPTED, null, "the node leaves");
            } else if (failure != null) {
                fail(shard, failure);
            } else {
                boolean first = shard.publish(doneRecord(shard));
                simulation.trace().line(this, (first ? "published " : "came second with ") + shard);
            }
        } catch (IOException | RuntimeException e) {
            simulation.trace().line(this, "fails with " + shard + ": " + e);
            if (e instanceof LeaseLostException || !shard.lease().isHeld()) {
                shard.lease().end(ClaimStatus.SUPERSEDED, null, e.getMessage());
            } else {
                fail(shard, FailureClass.INFRA);
            }
        }
    }

    private void fail(ClaimedShard shard, FailureClass failure) {
        try {
            invariants.fails(shard, failure);
            shard.fail(failure, "as planned", false);
            simulation.trace().line(this, "failed " + shard + ": " + failure);
        } catch (IOException | LeaseLostException e) {
            simulation.trace().line(this, "could not record the failure of " + shard + ": " + e);
        }
    }

    static DoneRecord doneRecord(ClaimedShard shard) {
        Claim claim = shard.lease().claim();
        return new DoneRecord(
                shard.shard().id(),
                claim.node(),
                claim.hostname(),
                claim.pid(),
                claim.token(),
                claim.epoch(),
                claim.spent().total() + 1,
                "result",
                "command",
                null,
                Ledger.of(1, 1, 0),
                List.of(),
                null,
                1,
                "00",
                List.of(),
                null,
                false,
                1,
                "2026-10-01T00:00:00Z");
    }

    ShardClaims claims() {
        if (claims == null) {
            throw new IllegalStateException(this + " has not joined");
        }
        return claims;
    }

    void kill() {
        dead = true;
        gone = true;
        diedAt = scheduler.now();
    }

    void freeze(long until) {
        frozenUntil = Math.max(frozenUntil, until);
        trouble(until);
    }

    void hangMount(long until) {
        hungUntil = Math.max(hungUntil, until);
        trouble(until);
    }

    void drain() {
        draining = true;
    }

    void stepWallClock(Duration by) {
        skew = skew.plus(by);
    }

    /** Something goes wrong with this node until then, which excuses it for being slow. */
    void trouble(long until) {
        troubledUntil = Math.max(troubledUntil, until);
    }

    /** True time since when the node has had nothing to do and nothing has gone wrong with it; far away if it has. */
    long idleAndWellSince() {
        return gone || draining || idleSince == Long.MAX_VALUE
                ? Long.MAX_VALUE
                : Math.max(Math.max(idleSince, troubledUntil), joinedAt);
    }

    /** True time since when a shard waits here for its turn and nothing has gone wrong with the node; far away if none does. */
    long holdsAheadAndIsWellSince() {
        return gone ? Long.MAX_VALUE : Math.max(aheadSince, troubledUntil);
    }

    @Override
    public boolean isDead() {
        return dead;
    }

    long diedAt() {
        return diedAt;
    }

    /** It works, or waits for work. */
    boolean isHere() {
        return !gone && !draining;
    }

    boolean isGone() {
        return gone;
    }

    @Override
    public long frozenUntil() {
        return frozenUntil;
    }

    long hungUntil() {
        return hungUntil;
    }

    long trueTime() {
        return scheduler.now();
    }

    /** The node's monotonic clock: of its own beginning and its own speed. */
    long nanos() {
        return clockOffset + scheduler.now() + (long) (scheduler.now() * drift);
    }

    private Clock wallClock() {
        return new Clock() {
            @Override
            public ZoneId getZone() {
                return ZoneOffset.UTC;
            }

            @Override
            public Clock withZone(ZoneId zone) {
                return this;
            }

            @Override
            public Instant instant() {
                return ModelDirectory.BEGINNING.plusNanos(scheduler.now()).plus(skew);
            }
        };
    }

    @Override
    public String toString() {
        return "n" + number;
    }
}
