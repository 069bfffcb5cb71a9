package dev.caravan.claim;

import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * When whoever has found nothing to do on this node looks again: at once where something has ended here, else the later
 * the longer this node has been idle, so that a short wait stays short and a long one costs the shared directory little.
 * Thread-safe.
 */
public final class NextLook {
    private static final long SOONEST = TimeUnit.MILLISECONDS.toNanos(200);
    private static final int PART_OF_THE_WAIT = 4;

    private final LongSupplier nanoClock;
    private long news;
    private OptionalLong idleSince;

    /** Of a node that starts, and is idle. */
    public NextLook(LongSupplier nanoClock) {
        this.nanoClock = nanoClock;
        this.idleSince = OptionalLong.of(nanoClock.getAsLong());
    }

    /** Something has ended here. */
    public synchronized void tellNews() {
        news++;
        notifyAll();
    }

    /** How often there have been news. To be asked before one looks, so that none is missed between look and wait. */
    public synchronized long news() {
        return news;
    }

    /** The node has nothing to do any more. */
    public synchronized void idle() {
        if (idleSince.isEmpty()) {
            idleSince = OptionalLong.of(nanoClock.getAsLong());
        }
    }

    /** The node has found something to do. */
    public synchronized void busy() {
        idleSince = OptionalLong.empty();
    }

    /** How long the node has been idle, 0 while it is not. */
    public synchronized long idleNanos() {
        return idleSince.isEmpty() ? 0 : nanoClock.getAsLong() - idleSince.getAsLong();
    }

    /** How old what is known may be. @param most the longest wait, which is also that of a node that is not idle */
    public synchronized long waitNanos(long most) {
        return idleSince.isEmpty() ? most : Math.min(most, Math.max(SOONEST, idleNanos() / PART_OF_THE_WAIT));
    }

    /** Waits until it is time. @param seen the news that are known */
    public synchronized void await(long seen, long mostMillis) throws InterruptedException {
        long deadline = nanoClock.getAsLong() + waitNanos(TimeUnit.MILLISECONDS.toNanos(mostMillis));
        for (long left; news == seen && (left = deadline - nanoClock.getAsLong()) > 0; ) {
            TimeUnit.NANOSECONDS.timedWait(this, left);
        }
    }
}
