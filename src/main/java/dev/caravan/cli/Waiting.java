package dev.caravan.cli;

import dev.caravan.CaravanException;
import dev.caravan.status.JobStatus;
import dev.caravan.status.Progress;
import dev.caravan.status.StatusReader;
import dev.caravan.store.Layout;
import java.io.IOException;
import java.time.Duration;
import java.util.function.BooleanSupplier;

/** Watches a job until it has ended, and shows how far it is. */
final class Waiting {
    private static final Duration LOOK_EVERY = Duration.ofSeconds(1);

    private Waiting() {}

    /**
     * @param isKnown whether there is something to read yet
     * @param mayStillEnd asked at each look; throws if the job cannot end any more
     */
    static JobStatus untilEnded(Layout.Job job, Duration staleAfter, BooleanSupplier isKnown, Runnable mayStillEnd) {
        StatusReader reader = new StatusReader(job, staleAfter);
        Progress progress = new Progress(System.err, System.console() != null, System::nanoTime);
        try {
            while (true) {
                if (isKnown.getAsBoolean()) {
                    JobStatus status = reader.read();
                    progress.show(status);
                    if (status.state().ended()) {
                        return status;
                    }
                }
                mayStillEnd.run();
                Thread.sleep(LOOK_EVERY.toMillis());
            }
        } catch (IOException e) {
            throw new CaravanException("cannot read the state of " + job.path() + ": " + e, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CaravanException("interrupted; the job goes on without this command", e);
        } finally {
            progress.end();
        }
    }
}
