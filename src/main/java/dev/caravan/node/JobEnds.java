package dev.caravan.node;

import dev.caravan.CaravanException;
import dev.caravan.report.ReportPage;
import dev.caravan.status.JobStatus;
import dev.caravan.status.StatusReader;
import dev.caravan.status.StatusText;
import dev.caravan.store.Disk;
import dev.caravan.store.JobFiles;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What is left to do once a job has ended: its report, and to tell. Whichever node sees the end first does it; several
 * that see it at the same moment write the same report.
 */
final class JobEnds {
    private static final Logger LOG = LoggerFactory.getLogger(JobEnds.class);

    private final Events events;
    private final Duration staleAfter;
    private final Clock clock;

    JobEnds(Events events, Duration staleAfter, Clock clock) {
        this.events = events;
        this.staleAfter = staleAfter;
        this.clock = clock;
    }

    void ended(JobCatalog.Entry entry) {
        JobFiles job = new JobFiles(entry.job());
        try {
            if (!Disk.exists(entry.job().path()) || Disk.exists(entry.job().report())) {
                return;
            }
            JobStatus status = new StatusReader(entry.job(), staleAfter).read();
            if (status.state().ended()) {
                ReportPage.write(job, status, clock.instant());
                if (Disk.isDirectory(entry.job().logs())) {
                    Disk.replace(
                            entry.job().jobResult(),
                            StatusText.of(status, false).getBytes(StandardCharsets.UTF_8));
                }
                events.finished(status.job(), status.state().toString());
                LOG.info(
                        "job {} has ended ({}); report {}",
                        status.job(),
                        status.state(),
                        entry.job().report());
            }
        } catch (IOException | CaravanException e) {
            LOG.warn(
                    "job {} has ended, but its report could not be written ({})",
                    entry.job().name(),
                    e.toString());
        }
    }
}
