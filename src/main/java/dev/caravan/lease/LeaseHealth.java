package dev.caravan.lease;

import dev.caravan.shard.Timing;

/** An owner's judgement of its own lease, from the times of its successful beats on one monotonic clock. No I/O. */
class LeaseHealth {
    private final long patienceNanos;
    private final long warnNanos;
    private long lastBeat;
    private boolean lost;

    LeaseHealth(Timing timing, long now) {
        this.patienceNanos = timing.ownersPatience().toNanos();
        this.warnNanos = timing.heartbeat().toNanos() * 2;
        this.lastBeat = now;
    }

    /**
     * A beat succeeded that was begun at {@code began}, so an observer saw it no earlier, and answered at
     * {@code answered}. Too late an answer revives nothing, also when it is the first to wake in a process that was
     * frozen: the beat may have been seen only now, after others gave up waiting for it.
     */
    synchronized void beat(long began, long answered) {
        if (!isLost(answered)) {
            lastBeat = Math.max(lastBeat, began);
        }
    }

    synchronized boolean isLate(long now) {
        return now - lastBeat > warnNanos;
    }

    /** Once lost, always lost. */
    synchronized boolean isLost(long now) {
        lost |= now - lastBeat >= patienceNanos;
        return lost;
    }

    synchronized void lose() {
        lost = true;
    }

    synchronized long sinceLastBeat(long now) {
        return now - lastBeat;
    }
}
