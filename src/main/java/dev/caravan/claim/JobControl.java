package dev.caravan.claim;

import dev.caravan.CaravanException;
import dev.caravan.shard.ControlRecord;
import dev.caravan.shard.NodeIdentity;
import dev.caravan.store.JobFiles;
import java.io.IOException;
import java.time.Clock;

/**
 * Pauses, resumes and cancels a job by facts in its directory, which every node looks at before each claim. Each act may
 * be repeated. A cancelled job stays cancelled: two people who act at once cannot bring it back by chance.
 */
public final class JobControl {
    private final JobFiles job;
    private final NodeIdentity who;
    private final Clock clock;

    public JobControl(JobFiles job, NodeIdentity who, Clock clock) {
        this.job = job;
        this.who = who;
        this.clock = clock;
    }

    /** Nothing of the job is claimed any more; what runs goes on to its end. */
    public void pause() throws IOException {
        requireOpen("paused");
        job.pause(record());
    }

    public void resume() throws IOException {
        requireOpen("resumed");
        job.resume();
    }

    /** Nothing is claimed or merged any more, and nodes end the attempts that run. */
    public void cancel() throws IOException {
        requireUnmerged("cancelled");
        job.cancel(record());
        requireUnmerged("cancelled"); // it may have been merged meanwhile, and then that stands
    }

    private void requireOpen(String what) {
        requireUnmerged(what);
        if (job.isCancelled()) {
            throw refused(what, "it was cancelled, for good: submit it under another name");
        }
    }

    private void requireUnmerged(String what) {
        job.manifest();
        if (job.merged().isPresent()) {
            throw refused(what, "it is done");
        }
    }

    private CaravanException refused(String what, String why) {
        return new CaravanException("the job " + job.layout().name() + " cannot be " + what + ": " + why);
    }

    private ControlRecord record() {
        return new ControlRecord(who.id(), who.hostname(), clock.instant().toString());
    }
}
