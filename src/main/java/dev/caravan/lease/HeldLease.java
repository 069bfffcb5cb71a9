package dev.caravan.lease;

import dev.caravan.shard.Claim;
import dev.caravan.shard.ClaimStatus;
import dev.caravan.shard.FailureClass;
import dev.caravan.store.LeaseStore;
import dev.caravan.store.StoreException;
import java.io.IOException;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A claim that this process won and beats for. Thread-safe. */
public final class HeldLease {
    private static final Logger LOG = LoggerFactory.getLogger(HeldLease.class);

    private final Claim claim;
    private final LeaseStore store;
    private final Heart heart;
    private final LeaseHealth health;
    private final LongSupplier nanoClock;
    private final List<Runnable> onLost = new ArrayList<>();
    private volatile @Nullable String lostBecause;
    private @Nullable Claim ended;
    private long beatMillis;

    HeldLease(Claim claim, LeaseStore store, Heart heart, LeaseHealth health, LongSupplier nanoClock) {
        this.claim = claim;
        this.store = store;
        this.heart = heart;
        this.health = health;
        this.nanoClock = nanoClock;
    }

    public Claim claim() {
        return claim;
    }

    Instant now() {
        return heart.now();
    }

    /** Judged by the clock at this moment, so that a process that was frozen knows it before it does anything else. */
    public boolean isHeld() {
        return !health.isLost(nanoClock.getAsLong());
    }

    /** @throws LeaseLostException if the lease is lost or a higher epoch exists */
    public void requireHeld() {
        if (isHeld() && store.exists(claim.key(), claim.epoch() + 1)) {
            lose("epoch " + (claim.epoch() + 1) + " exists: another node took over");
        }
        if (!isHeld()) {
            throw new LeaseLostException("lease of " + claim.key() + " epoch " + claim.epoch() + " is lost: "
                    + whyLost() + "; nothing of it is published");
        }
    }

    /** Runs {@code action} once if the lease is ever lost, at once if it is lost already. */
    public void onLost(Runnable action) {
        synchronized (onLost) {
            if (lostBecause == null) {
                onLost.add(action);
                return;
            }
        }
        action.run();
    }

    /** Gives the lease up from this side: what hangs on it is stopped. Idempotent. */
    void lose(String why) {
        List<Runnable> actions;
        synchronized (onLost) {
            health.lose();
            if (lostBecause != null) {
                return;
            }
            lostBecause = why;
            actions = List.copyOf(onLost);
        }
        LOG.warn(
                "{} epoch {}: lease lost ({}); stopping its work, another node goes on",
                claim.key(),
                claim.epoch(),
                why);
        actions.forEach(Runnable::run);
    }

    /** One beat, unless the lease is lost: then others shall see it die. Called by the heart alone. */
    void beat() {
        if (!isHeld()) {
            return;
        }
        long began = nanoClock.getAsLong();
        try {
            if (store.exists(claim.key(), claim.epoch() + 1)) {
                lose("epoch " + (claim.epoch() + 1) + " exists: another node took over");
                return;
            }
            beatMillis = Math.max(heart.now().toEpochMilli(), beatMillis + 1);
            store.beat(claim, FileTime.fromMillis(beatMillis));
            health.beat(began, nanoClock.getAsLong());
        } catch (IOException | StoreException e) {
            LOG.warn(
                    "{} epoch {}: beat failed ({}); the lease is given up unless one succeeds in time",
                    claim.key(),
                    claim.epoch(),
                    e.toString());
        }
    }

    /** Called by the heart's second thread, which does no I/O: it judges even while a beat hangs. */
    void judge() {
        long now = nanoClock.getAsLong();
        if (health.isLost(now)) {
            lose("no successful beat for " + health.sinceLastBeat(now) / 1_000_000 + " ms");
        } else if (health.isLate(now)) {
            LOG.debug("{} epoch {}: beat is late", claim.key(), claim.epoch());
        }
    }

    /**
     * Ends the claim on disk and stops its beat. A lost lease ends as superseded if somebody took over, else as an
     * infra failure: its work is stopped, so the next node need not wait.
     */
    public void end(ClaimStatus status, @Nullable FailureClass failure, @Nullable String reason) {
        Claim last;
        synchronized (this) {
            if (ended != null) {
                return;
            }
            last = lastWord(status, failure, reason);
            ended = last;
        }
        heart.remove(this);
        try {
            store.end(last);
        } catch (IOException e) {
            LOG.warn(
                    "{} epoch {}: could not record its end ({}); another node takes over after one lease",
                    claim.key(),
                    claim.epoch(),
                    e.toString());
        }
    }

    /** How the claim ended; empty while it runs. */
    public synchronized Optional<ClaimStatus> end() {
        return Optional.ofNullable(ended).map(Claim::status);
    }

    /** The claim as it ended; empty while it runs. */
    public synchronized Optional<Claim> ended() {
        return Optional.ofNullable(ended);
    }

    private Claim lastWord(ClaimStatus status, @Nullable FailureClass failure, @Nullable String reason) {
        if (isHeld()) {
            return claim.ended(status, failure, reason);
        }
        return isTakenOver()
                ? claim.ended(ClaimStatus.SUPERSEDED, null, whyLost())
                : claim.ended(ClaimStatus.FAILED, FailureClass.INFRA, "lost: " + whyLost());
    }

    private boolean isTakenOver() {
        try {
            return store.exists(claim.key(), claim.epoch() + 1);
        } catch (StoreException unknown) {
            return false; // the end will hardly be recorded either
        }
    }

    private String whyLost() {
        String known = lostBecause;
        return known == null ? "no beat in time" : known;
    }
}
