package dev.caravan.lease;

import dev.caravan.shard.Timing;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
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
    private final Set<HeldLease> leases = ConcurrentHashMap.newKeySet();
    private final ScheduledExecutorService beating = daemon("lease-beat");
    private final ScheduledExecutorService judging = daemon("lease-fence");
    private long lastBeat;

    public Heart(Timing timing, LongSupplier nanoClock) {
        this.timing = timing;
        this.nanoClock = nanoClock;
        this.lastBeat = nanoClock.getAsLong();
        long beat = timing.heartbeat().toNanos();
        beating.scheduleWithFixedDelay(this::beat, beat, beat, TimeUnit.NANOSECONDS);
        long look = Math.min(timing.margin().toNanos() / 10, TimeUnit.SECONDS.toNanos(1));
        judging.scheduleWithFixedDelay(() -> leases.forEach(HeldLease::judge), look, look, TimeUnit.NANOSECONDS);
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

    void add(HeldLease lease) {
        leases.add(lease);
    }

    void remove(HeldLease lease) {
        leases.remove(lease);
    }

    private void beat() {
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
