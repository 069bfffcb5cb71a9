package dev.caravan.claim;

import dev.caravan.CaravanException;
import dev.caravan.lease.ClaimedShard;
import dev.caravan.lease.Heart;
import dev.caravan.lease.HeldLease;
import dev.caravan.lease.Leases;
import dev.caravan.lease.RetryPace;
import dev.caravan.lease.Verdict;
import dev.caravan.shard.Claim;
import dev.caravan.shard.ClaimStatus;
import dev.caravan.shard.FailedRecord;
import dev.caravan.shard.FailureClass;
import dev.caravan.shard.Manifest;
import dev.caravan.shard.NodeIdentity;
import dev.caravan.shard.ShardId;
import dev.caravan.shard.Spent;
import dev.caravan.store.JobFiles;
import dev.caravan.store.LeaseStore;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The claims of one job's shards on this node. A node starts at a place of its own, so that nodes do not meet at shard
 * 0, and the cost of a claim does not grow with the number of shards. Thread-safe.
 */
public final class ShardClaims {
    private static final Logger LOG = LoggerFactory.getLogger(ShardClaims.class);

    private static final int LOOKS_WHEN_IDLE = 32;

    /** So many shards that others have claimed are tried at one poll: idle nodes must not all read all running claims. */
    private static final int TRIED_AT_ONCE = 32;

    private final JobFiles job;
    private final Manifest manifest;
    private final Heart heart;
    private final Leases leases;
    private final NodeIdentity node;
    private final JobView view;
    private final Speculation speculation;
    private final Deque<Manifest.Shard> neverClaimed = new ArrayDeque<>();
    private final Deque<Manifest.Shard> claimedBefore = new ArrayDeque<>();
    private final Set<ShardId> dead = ConcurrentHashMap.newKeySet();
    private final Set<ShardId> mine = ConcurrentHashMap.newKeySet();

    public ShardClaims(JobFiles job, Manifest manifest, Heart heart, NodeIdentity node, RetryPace pace) {
        this(job, manifest, heart, node, pace, new Leases(job.locks(), heart, node, pace));
    }

    /** @param leases those of the job's locks */
    public ShardClaims(JobFiles job, Manifest manifest, Heart heart, NodeIdentity node, RetryPace pace, Leases leases) {
        this.job = job;
        this.manifest = manifest;
        this.heart = heart;
        this.leases = leases;
        this.node = node;
        this.view = new JobView(job, job.locks(), heart.nanoClock());
        this.speculation = new Speculation(job, manifest, heart, node, pace, view);
    }

    public Manifest manifest() {
        return manifest;
    }

    public JobFiles job() {
        return job;
    }

    public int doneCount() {
        return view.doneCount();
    }

    public int failedCount() {
        return view.failedCount();
    }

    public boolean isSettled() {
        return doneCount() + failedCount() == manifest.numShards();
    }

    /** Lists the job's state again unless that was done within {@code noSoonerThanNanos}. */
    public void refresh(long noSoonerThanNanos) throws IOException {
        view.refresh(noSoonerThanNanos);
    }

    /** Claims a shard, if one can be claimed now. */
    public synchronized Optional<ClaimedShard> claimNext() throws IOException {
        Optional<ClaimedShard> takenOver = takeOver();
        if (takenOver.isPresent()) {
            return takenOver;
        }
        if (fillEmptyQueues() && neverClaimed.isEmpty()) {
            lookAround();
        }
        Optional<ClaimedShard> first = claimNeverClaimed();
        if (first.isPresent()) {
            return first;
        }
        for (int tried = 0; tried < TRIED_AT_ONCE && !claimedBefore.isEmpty(); ) {
            Manifest.Shard shard = claimedBefore.remove();
            if (isOpen(shard.id())) {
                tried++;
                Optional<ClaimedShard> claimed = tryClaim(shard);
                if (claimed.isPresent()) {
                    return claimed;
                }
            }
        }
        return Optional.empty();
    }

    /**
     * Claims a shard that waits here for its turn: a dead node's, else one that nobody has claimed yet, and only while
     * enough of these are left. A node that always has one waiting claims in no other way.
     *
     * @param ahead how many this node holds so
     */
    public synchronized Optional<ClaimedShard> claimAhead(int ahead) throws IOException {
        if (spareWith(ahead) < 1) {
            return Optional.empty();
        }
        Optional<ClaimedShard> takenOver = takeOver();
        if (takenOver.isPresent()) {
            return takenOver;
        }
        fillEmptyQueues();
        return claimNeverClaimed();
    }

    /** Whether this node may go on holding so many shards that wait for their turn. */
    public boolean leavesEnoughFor(int ahead) {
        return spareWith(ahead) >= 0;
    }

    /**
     * No node may be idle for want of a shard that waits here. A node that ends a shard claims the next, so as long as
     * there is one that nobody has claimed for each that is worked on anywhere, there is work for all. Idle nodes need not
     * be known: there are none before the shards are claimed.
     */
    private int spareWith(int ahead) {
        return view.neverClaimed(manifest.numShards()) - (view.claimedAndOpen() - ahead);
    }

    public boolean hasNeverClaimed() {
        return view.neverClaimed(manifest.numShards()) > 0;
    }

    /** @return whether they were empty */
    private boolean fillEmptyQueues() throws IOException {
        if (!neverClaimed.isEmpty() || !claimedBefore.isEmpty()) {
            return false;
        }
        view.refresh(0);
        fillQueues();
        return true;
    }

    private Optional<ClaimedShard> claimNeverClaimed() throws IOException {
        for (Manifest.Shard shard; (shard = neverClaimed.poll()) != null; ) {
            if (view.highestEpoch(shard.id()) > 0) {
                claimedBefore.add(shard); // by another node, since the queue was filled
                continue;
            }
            Optional<ClaimedShard> claimed = tryClaim(shard);
            if (claimed.isPresent()) {
                return claimed;
            }
        }
        return Optional.empty();
    }

    /**
     * Claims a second attempt of the shard that runs longest elsewhere, if the job wants that and no shard is left to
     * claim. Called when {@link #claimNext} has found none.
     */
    public synchronized Optional<ClaimedShard> speculate() throws IOException {
        if (!manifest.policy().speculates()) {
            return Optional.empty();
        }
        List<Manifest.Shard> running = new ArrayList<>();
        for (Manifest.Shard shard : manifest.shards()) {
            if (!isOpen(shard.id())) {
                continue;
            }
            String key = shard.id().toString();
            long epoch = view.highestEpoch(shard.id());
            if (epoch > 0 && !leases.hasSeenEnd(key, epoch)) {
                running.add(shard);
            } else if (epoch == 0 || !(leases.judge(key, epoch, manifest.policy()) instanceof Verdict.Finished)) {
                return Optional.empty(); // it is to be claimed, if not yet
            }
        }
        List<Speculation.Slow> slow = speculation.slow(running);
        Map<String, Long> numbers = slow.isEmpty() ? Map.of() : speculation.numbers();
        for (Speculation.Slow one : slow) {
            Optional<ClaimedShard> claimed =
                    speculation.claim(one, numbers).flatMap(lease -> workOn(one.shard(), lease));
            if (claimed.isPresent()) {
                LOG.info(
                        "{}: nothing is left to claim, and {} runs for long: a second attempt is made here",
                        manifest.jobId(),
                        one.shard().id());
                return claimed;
            }
        }
        return Optional.empty();
    }

    private boolean isOpen(ShardId shard) {
        return !view.isSettled(shard) && !mine.contains(shard);
    }

    /** With nothing to do: what was handed back a moment ago is claimed now, not at the next look of the watch. */
    private void lookAround() {
        try {
            watch(LOOKS_WHEN_IDLE, Long.MAX_VALUE);
        } catch (IOException e) {
            LOG.debug("{}: a claim cannot be looked at ({}); it waits", manifest.jobId(), e.toString());
        }
    }

    /** A dead node's shard does not wait until all others have had their first turn. */
    private Optional<ClaimedShard> takeOver() throws IOException {
        for (ShardId id : dead) {
            dead.remove(id);
            Optional<ClaimedShard> claimed = tryClaim(manifest.shards().get(id.index()));
            if (claimed.isPresent()) {
                return claimed;
            }
        }
        return Optional.empty();
    }

    /** From this node's own place on. */
    private void fillQueues() {
        List<Manifest.Shard> shards = manifest.shards();
        int start = Math.floorMod(node.id().hashCode(), shards.size());
        for (int i = 0; i < shards.size(); i++) {
            Manifest.Shard shard = shards.get((start + i) % shards.size());
            if (isOpen(shard.id())) {
                (view.highestEpoch(shard.id()) == 0 ? neverClaimed : claimedBefore).add(shard);
            }
        }
    }

    private Optional<ClaimedShard> tryClaim(Manifest.Shard shard) throws IOException {
        ShardId id = shard.id();
        if (!isOpen(id)) {
            return Optional.empty();
        }
        Verdict verdict = leases.judge(id.toString(), view.highestEpoch(id), manifest.policy());
        if (verdict instanceof Verdict.Claimable basis) {
            return claim(shard, basis).flatMap(lease -> workOn(shard, lease));
        }
        if (verdict instanceof Verdict.Exhausted exhausted) {
            claim(shard, exhausted.next()).ifPresent(lease -> publishTerminalFailure(id, exhausted, lease));
        }
        return Optional.empty();
    }

    private Optional<HeldLease> claim(Manifest.Shard shard, Verdict.Claimable basis) throws IOException {
        Optional<HeldLease> lease = leases.claim(
                shard.id().toString(),
                basis,
                token -> job.layout()
                        .relative(job.layout()
                                .attempt(shard.id(), basis.epoch(), token)
                                .path()));
        view.learnEpoch(shard.id(), basis.epoch());
        if (lease.isEmpty()) {
            view.refresh(0); // what we know is old: others have been here
        }
        return lease;
    }

    private Optional<ClaimedShard> workOn(Manifest.Shard shard, HeldLease lease) {
        try {
            return unlessSettled(shard, lease);
        } catch (RuntimeException e) { // a lease that nobody works for would beat for ever
            lease.end(ClaimStatus.RELEASED, null, e.toString());
            throw e;
        }
    }

    /** It may have been finished between our listing and our claim. */
    private Optional<ClaimedShard> unlessSettled(Manifest.Shard shard, HeldLease lease) {
        if (job.done(shard.id()).isPresent()) {
            view.learnDone(shard.id());
            lease.end(ClaimStatus.SUPERSEDED, null, "done before this claim");
            return Optional.empty();
        }
        if (job.failed(shard.id()).isPresent()) {
            lease.end(ClaimStatus.RELEASED, null, "failed before this claim");
            return Optional.empty();
        }
        mine.add(shard.id());
        return Optional.of(new ClaimedShard(job, manifest, shard, lease));
    }

    private void publishTerminalFailure(ShardId shard, Verdict.Exhausted exhausted, HeldLease lease) {
        try {
            FailedRecord record = terminalFailure(shard, exhausted);
            lease.requireHeld();
            job.publishFailed(record);
            view.learnFailed(shard, lease.claim().epoch());
            LOG.error("{} {} has failed for good: {}", manifest.jobId(), shard, record.summary());
            lease.end(ClaimStatus.RELEASED, null, "budget used up before this claim");
        } catch (IOException | CaravanException e) {
            LOG.warn(
                    "{} {}: could not record the terminal failure ({}); trying again",
                    manifest.jobId(),
                    shard,
                    e.toString());
            lease.end(ClaimStatus.RELEASED, null, e.toString());
        }
    }

    /** Blames the last claim that failed in the class that is used up: later ones may only have tried to record that. */
    private FailedRecord terminalFailure(ShardId shard, Verdict.Exhausted exhausted) throws IOException {
        Spent spent = exhausted.next().spent();
        FailureClass usedUp = spent.usedUp(manifest.policy()).orElseThrow();
        Claim blamed = exhausted.last();
        for (long epoch = blamed.epoch() - 1; epoch > 0 && blamed.failureClass() != usedUp; epoch--) {
            blamed = job.locks()
                    .look(shard.toString(), epoch)
                    .flatMap(LeaseStore.Sight::claim)
                    .filter(claim -> claim.failureClass() == usedUp)
                    .orElse(blamed);
        }
        return FailedRecord.of(shard, usedUp, blamed, spent, heart.now().toString());
    }

    /** The node no longer works on the shard. */
    public void finished(ClaimedShard work) {
        ShardId shard = work.shard().id();
        if (work.lease().end().equals(Optional.of(ClaimStatus.DONE))) {
            view.learnDone(shard);
        }
        mine.remove(shard);
    }

    /**
     * Looks at claims of other nodes, so that a dead one is noticed.
     *
     * @param limit how many at most; those nearest to this node by hash, so that each claim has several watchers
     */
    public void watch(int limit, long listNoSoonerThanNanos) throws IOException {
        view.refresh(listNoSoonerThanNanos);
        List<ShardId> open = new ArrayList<>();
        for (Manifest.Shard shard : manifest.shards()) {
            ShardId id = shard.id();
            long epoch = view.highestEpoch(id);
            if (epoch > 0 && !view.isSettled(id) && !mine.contains(id) && !leases.hasSeenEnd(id.toString(), epoch)) {
                open.add(id);
            }
        }
        open.sort(Comparator.comparingInt(id -> (id.toString() + node.id()).hashCode() & Integer.MAX_VALUE));
        @Nullable IOException unreadable = null;
        for (ShardId id : open.subList(0, Math.min(limit, open.size()))) {
            try {
                leases.look(id.toString(), view.highestEpoch(id));
                if (leases.isDead(id.toString())) {
                    dead.add(id);
                }
                speculation.saw(id, view.highestEpoch(id));
            } catch (IOException e) { // one bad file does not hide the others
                unreadable = e;
            }
        }
        if (unreadable != null) {
            throw unreadable;
        }
    }
}
