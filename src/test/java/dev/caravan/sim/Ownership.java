package dev.caravan.sim;

import dev.caravan.shard.Claim;
import dev.caravan.shard.Timing;

/** What is true of one claim, from the clock of its owner and not from what anybody has read. */
final class Ownership {
    private final Claim claim;
    private final SimNode owner;
    private final long patience;
    private long lastBeat;
    private boolean fenced;
    private boolean over;
    private long overSince = Long.MAX_VALUE;
    private boolean succeeded;
    private boolean known;

    /** @param began when the owner began to make the claim, on its own clock */
    Ownership(Claim claim, SimNode owner, long began, Timing timing) {
        this.claim = claim;
        this.owner = owner;
        this.lastBeat = began;
        this.patience = timing.ownersPatience().toNanos();
    }

    Claim claim() {
        return claim;
    }

    SimNode owner() {
        return owner;
    }

    /** A beat had its answer that was begun at this time of the owner's clock. */
    void beat(long began) {
        if (!isFenced()) {
            lastBeat = Math.max(lastBeat, began);
        }
    }

    /** The owner learned that it made the claim. */
    void know() {
        known = true;
    }

    boolean isKnown() {
        return known;
    }

    /** Its owner's patience is over, or it has given up. Once is for ever. */
    boolean isFenced() {
        if (!fenced && owner.nanos() - lastBeat >= patience) {
            fenced = true;
            leave();
        }
        return fenced;
    }

    void giveUp() {
        fenced = true;
        leave();
    }

    /** Nobody acts for the claim from now on: its owner ended it, or never learned that it has it. */
    void leave() {
        over = true;
        overSince = Math.min(overSince, owner.trueTime());
    }

    void succeed() {
        succeeded |= !isFenced();
    }

    /** It ended with the shard's result while its owner was in its right. */
    boolean hasSucceeded() {
        return succeeded;
    }

    boolean isLive() {
        return !over && !owner.isDead() && !isFenced();
    }

    /** True time since when nobody acts for the claim. */
    long deadSince() {
        return owner.isDead() ? Math.min(owner.diedAt(), overSince) : overSince;
    }

    @Override
    public String toString() {
        return claim.key() + " epoch " + claim.epoch() + " of " + owner;
    }
}
