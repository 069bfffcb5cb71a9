package dev.caravan.exec;

import dev.caravan.lease.ClaimedShard;
import dev.caravan.shard.AttemptRecord;
import java.io.IOException;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** An attempt from its begin to its end: what it holds, and which run of the engine it is at. */
final class Running {
    private final Gpus.Grant gpus;
    private final AttemptRecord record;
    private final long beganNanos;
    private final CompletableFuture<String> stop = new CompletableFuture<>();
    private Trial trial;
    private @Nullable Isolation isolation;

    Running(Gpus.Grant gpus, AttemptRecord record, long beganNanos, Trial first) {
        this.gpus = gpus;
        this.record = record;
        this.beganNanos = beganNanos;
        this.trial = first;
    }

    Gpus.Grant gpus() {
        return gpus;
    }

    AttemptRecord record() {
        return record;
    }

    /** Completed with a reason, it ends the child at work and each to come. */
    CompletableFuture<String> stop() {
        return stop;
    }

    Trial trial() {
        return trial;
    }

    long beganNanos() {
        return beganNanos;
    }

    /** Whether it runs the engine over some of its records, to find those to blame. */
    boolean isIsolating() {
        return isolation != null;
    }

    /**
     * Goes on after a run of the engine.
     *
     * @param failure of this run; null if it ended well
     * @return the next run, if the attempt needs one
     * @throws AttemptFailed if that ends the attempt
     */
    Optional<Trial> after(@Nullable AttemptFailed failure) throws IOException {
        ClaimedShard shard = trial.shard();
        if (isolation == null) {
            if (failure == null) {
                return Optional.empty();
            }
            if (!Isolation.mayHelp(shard, failure)) {
                throw failure;
            }
            isolation = Isolation.begin(shard, failure);
        } else if (failure == null) {
            isolation.passed();
        } else {
            isolation.failed(failure);
        }
        Optional<Trial> next = isolation.next();
        next.ifPresent(found -> trial = found);
        return next;
    }
}
