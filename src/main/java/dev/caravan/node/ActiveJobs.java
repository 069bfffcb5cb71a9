package dev.caravan.node;

import dev.caravan.CaravanException;
import dev.caravan.store.StoreException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The jobs of the catalog that have not ended, by priority, listed again no sooner than asked. Thread-safe. */
final class ActiveJobs {
    private static final Logger LOG = LoggerFactory.getLogger(ActiveJobs.class);

    private final JobCatalog catalog;
    private final Function<JobCatalog.Entry, ActiveJob> join;
    private final LongSupplier nanoClock;
    private final long listEveryNanos;
    private final Map<JobCatalog.Entry, ActiveJob> known = new LinkedHashMap<>();
    private final List<ActiveJob> unended = new ArrayList<>();
    private final Set<ActiveJob> ended = new HashSet<>();
    private final Consumer<JobCatalog.Entry> onEnd;
    private long listedAt;
    private boolean listed;

    ActiveJobs(
            JobCatalog catalog,
            Function<JobCatalog.Entry, ActiveJob> join,
            Consumer<JobCatalog.Entry> onEnd,
            LongSupplier nanoClock,
            long listEveryNanos) {
        this.onEnd = onEnd;
        this.catalog = catalog;
        this.join = join;
        this.nanoClock = nanoClock;
        this.listEveryNanos = listEveryNanos;
    }

    synchronized List<ActiveJob> unended() throws IOException {
        if (!listed || nanoClock.getAsLong() - listedAt >= listEveryNanos) {
            list();
            listed = true;
            listedAt = nanoClock.getAsLong();
        }
        return List.copyOf(unended);
    }

    private void list() throws IOException {
        List<JobCatalog.Entry> entries = catalog.jobs();
        known.keySet().retainAll(entries);
        ended.retainAll(known.values());
        unended.clear();
        for (JobCatalog.Entry entry : entries) {
            ActiveJob job = known.computeIfAbsent(entry, join);
            try {
                if (job.phase(listEveryNanos) != ActiveJob.Phase.ENDED) {
                    unended.add(job);
                    ended.remove(job);
                } else if (ended.add(job)) {
                    onEnd.accept(entry);
                }
            } catch (StoreException e) {
                if (e.isMountTrouble()) {
                    unended.add(job); // for all we know
                    LOG.warn("job {}: {}; looking again", entry.job().name(), e.getMessage());
                } else {
                    LOG.error("job {} is left alone: {}", entry.job().name(), e.getMessage());
                }
            } catch (CaravanException e) {
                LOG.error("job {} is left alone: {}", entry.job().name(), e.getMessage());
            }
        }
        unended.sort(Comparator.comparingInt(ActiveJob::priority).reversed());
    }

    /** Whether every job has ended and none is on its way. */
    synchronized boolean isOver() throws IOException {
        boolean inboxEmpty = catalog.isInboxEmpty(); // before the listing: an accepted job is listed or still there
        list();
        return inboxEmpty && unended.isEmpty();
    }

    synchronized List<ActiveJob> all() {
        return List.copyOf(known.values());
    }
}
