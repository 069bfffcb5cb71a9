package dev.caravan.lease;

import dev.caravan.shard.Timing;
import java.time.Clock;
import java.time.Instant;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArraySet;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Beats for all leases of this process, and fences those whose beats fail. Two threads that do nothing else: one does
 * the I/O of beating and may hang with the mount, the other only reads the clock and never hangs.
 */
public final class Heart implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Heart.class);

    private final Timing timing;
    private final LongSupplier nanoClock;
    /** In the order of their claims, so that a simulation of the same seed beats in the same order. */
    private final Set<HeldLease> leases = new CopyOnWriteArraySet<>();

    private final ScheduledExecutorService beating = daemon("lease-beat");
    private final ScheduledExecutorService judging = daemon("lease-fence");
    private final Clock wallClock;
    private long lastBeat;

    /** A heart that does not beat by itself: whoever made it calls {@link #beat} and {@link #judge}. */
    public Heart(Timing timing, LongSupplier nanoClock, Clock wallClock) {
        this.timing = timing;
        this.nanoClock = nanoClock;
        this.wallClock = wallClock;
        this.lastBeat = nanoClock.getAsLong();
    }

    /** A heart that beats with this machine's clocks until it is closed. */
    public static Heart beating(Timing timing) {
        return beating(timing, System::nanoTime);
    }

    static Heart beating(Timing timing, LongSupplier nanoClock) {
        Heart heart = new Heart(timing, nanoClock, Clock.systemUTC());
        heart.start();
        return heart;
    }

    private void start() {
        long beat = timing.heartbeat().toNanos();
        beating.scheduleWithFixedDelay(this::beat, beat, beat, TimeUnit.NANOSECONDS);
        long look = Math.min(timing.margin().toNanos() / 10, TimeUnit.SECONDS.toNanos(1));
        judging.scheduleWithFixedDelay(this::judge, look, look, TimeUnit.NANOSECONDS);
    }

    private static ScheduledExecutorService daemon(String name) {
        return Executors.newSingleThreadScheduledExecutor(task -> {
            Thread thread = new Thread(task, name);
            thread.setDaemon(true);
            return thread;
        });
    }

    public Timing timing() {
        return timing;
    }

    public LongSupplier nanoClock() {
        return nanoClock;
    }

    /** For what people read; no judgement rests on it. */
    public Instant now() {
        return wallClock.instant();
    }

    void add(HeldLease lease) {
        leases.add(lease);
    }

    void remove(HeldLease lease) {
        leases.remove(lease);
    }

    /** Gives up every lease whose last successful beat is too long ago. No I/O. */
    public void judge() {
        leases.forEach(HeldLease::judge);
    }

    /** Beats once for every lease. */
    public void beat() {
        long now = nanoClock.getAsLong();
        long late = now - lastBeat - timing.heartbeat().toNanos();
        if (!leases.isEmpty() && late > timing.heartbeat().toNanos()) {
            LOG.warn("heartbeat came {} ms late: this node or its mount is overloaded", late / 1_000_000);
        }
        lastBeat = now;
        for (HeldLease lease : leases) {
            try {
                lease.beat();
            } catch (RuntimeException e) {
                LOG.error("beat of {} failed", lease.claim().key(), e);
            }
        }
    }

    @Override
    public void close() {
        beating.shutdownNow();
        judging.shutdownNow();
    }
}
