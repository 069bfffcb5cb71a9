package dev.caravan.lease;

import dev.caravan.shard.Claim;
import dev.caravan.shard.ClaimStatus;
import dev.caravan.shard.FailureClass;
import dev.caravan.shard.NodeIdentity;
import dev.caravan.shard.Policy;
import dev.caravan.shard.Spent;
import dev.caravan.store.LeaseStore;
import java.io.IOException;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The claims of one lease directory as one node sees, judges and makes them. Thread-safe. */
public final class Leases {
    private static final Logger LOG = LoggerFactory.getLogger(Leases.class);

    private final LeaseStore store;
    private final Heart heart;
    private final NodeIdentity node;
    private final RetryPace pace;
    private final Liveness liveness;
    private final Watch watch;

    public Leases(LeaseStore store, Heart heart, NodeIdentity node, RetryPace pace) {
        this(store, heart, node, pace, new Liveness(heart.timing()));
    }

    Leases(LeaseStore store, Heart heart, NodeIdentity node, RetryPace pace, Liveness liveness) {
        this.store = store;
        this.heart = heart;
        this.node = node;
        this.pace = pace;
        this.liveness = liveness;
        this.watch = liveness.observer();
    }

    public Map<String, Long> highestEpochs() throws IOException {
        return store.highestEpochs();
    }

    /** Looks once at a claim; call it each {@link dev.caravan.shard.Timing#lookEvery()} for claims to be taken over. */
    public void look(String key, long epoch) throws IOException {
        long asked = heart.nanoClock().getAsLong();
        Optional<LeaseStore.Sight> sight = store.look(key, epoch);
        long answered = heart.nanoClock().getAsLong();
        synchronized (watch) {
            if (sight.isEmpty()) {
                watch.forget(key);
            } else {
                watch.sight(key, epoch, sight.get().claim(), sight.get().beat(), asked, answered);
            }
        }
    }

    /** Whether the claim's end has been seen, so that looking again tells nothing new. */
    public boolean hasSeenEnd(String key, long epoch) {
        synchronized (watch) {
            return watch.of(key)
                    .filter(seen -> seen.epoch() == epoch)
                    .flatMap(Watch.Seen::claim)
                    .filter(claim -> claim.status() != ClaimStatus.RUNNING)
                    .isPresent();
        }
    }

    /** Whether the claim was watched long enough to be taken over now. */
    public boolean isDead(String key) {
        synchronized (watch) {
            return watch.isDead(key, heart.nanoClock().getAsLong());
        }
    }

    public void forget(String key) {
        synchronized (watch) {
            watch.forget(key);
        }
    }

    /** @param highest the highest epoch that a listing showed, 0 for none */
    public Verdict judge(String key, long highest, Policy policy) throws IOException {
        if (highest == 0) {
            return new Verdict.Claimable(1, Spent.NOTHING, List.of(), null);
        }
        Optional<Watch.Seen> known;
        synchronized (watch) {
            known = watch.of(key);
        }
        if (known.isEmpty() || known.get().epoch() != highest) {
            look(key, highest);
        }
        long now = heart.nanoClock().getAsLong();
        synchronized (watch) {
            return watch.of(key)
                    .map(seen -> judge(key, seen, policy, now))
                    .orElse(new Verdict.Wait()); // listed, but not to be opened yet: a late name
        }
    }

    private Verdict judge(String key, Watch.Seen seen, Policy policy, long now) {
        long next = seen.epoch() + 1;
        if (seen.claim().isEmpty()) {
            return watch.isDead(key, now)
                    ? new Verdict.Claimable(next, Spent.NOTHING, List.of(), null)
                    : new Verdict.Wait();
        }
        Claim claim = seen.claim().get();
        return switch (claim.status()) {
            case DONE -> new Verdict.Finished();
            case RELEASED, PREEMPTED, SUPERSEDED ->
                within(policy, new Verdict.Claimable(next, claim.spent(), claim.failedOn(), null), claim);
            case RUNNING -> {
                if (!watch.isDead(key, now)) {
                    yield new Verdict.Wait();
                }
                boolean charged = watch.isCharged(key, now);
                Claim dead = charged ? claim.ended(ClaimStatus.FAILED, FailureClass.INFRA, "node died") : claim;
                yield within(policy, new Verdict.Claimable(next, dead.spentAfter(), dead.failedOnAfter(), claim), dead);
            }
            case FAILED -> {
                Verdict.Claimable retry = new Verdict.Claimable(next, claim.spentAfter(), claim.failedOnAfter(), null);
                long rest = pace.rest(retry.spent(), retry.failedOn().contains(node.id()))
                        .toNanos();
                Verdict allowed = within(policy, retry, claim);
                yield allowed instanceof Verdict.Claimable && now - seen.since() < rest ? new Verdict.Wait() : allowed;
            }
        };
    }

    private static Verdict within(Policy policy, Verdict.Claimable next, Claim last) {
        return next.spent().exceeds(policy) ? new Verdict.Exhausted(next, last) : next;
    }

    /**
     * Tries to win an epoch.
     *
     * @param attemptDir gives the attempt's directory for a token
     * @return the lease, beating already; empty if another node won the epoch
     */
    public Optional<HeldLease> claim(String key, Verdict.Claimable basis, Function<String, @Nullable String> attemptDir)
            throws IOException {
        return claim(key, basis, null, attemptDir);
    }

    /** @param beside the epoch of the key that a second attempt stands beside */
    public Optional<HeldLease> claim(
            String key, Verdict.Claimable basis, @Nullable Long beside, Function<String, @Nullable String> attemptDir)
            throws IOException {
        String token = HexFormat.of().toHexDigits(ThreadLocalRandom.current().nextLong());
        Claim dead = basis.tookOver();
        Claim claim = new Claim(
                key,
                basis.epoch(),
                token,
                node.id(),
                node.hostname(),
                node.pid(),
                heart.now().toString(),
                ClaimStatus.RUNNING,
                null,
                null,
                attemptDir.apply(token),
                basis.spent(),
                basis.failedOn(),
                dead == null ? null : dead.token(),
                beside);
        long began = heart.nanoClock().getAsLong();
        if (!store.create(claim)) {
            return Optional.empty();
        }
        HeldLease lease = new HeldLease(claim, store, heart, liveness.ownerSince(began), heart.nanoClock());
        heart.add(lease);
        if (dead != null) {
            LOG.warn(
                    "{}: epoch {} of node {} is dead (unchanged for a whole lease); taken over with epoch {}",
                    key,
                    dead.epoch(),
                    dead.node(),
                    claim.epoch());
        }
        return Optional.of(lease);
    }
}
