package dev.caravan.exec;

import dev.caravan.lease.ClaimedShard;
import dev.caravan.settings.Durations;
import dev.caravan.shard.FailureClass;
import dev.caravan.shard.Policy;
import dev.caravan.store.Disk;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** What the end of a child means. */
final class Ends {
    private static final int SIGNALLED = 128;
    private static final int SIGNALS = 64;
    /** HUP, INT and TERM: what schedulers end a node with, often the whole tree of its processes at once. */
    private static final Set<Integer> FROM_SCHEDULERS = Set.of(1, 2, 15);
    /** Longest time until this process knows what its children know. */
    private static final Duration NEWS = Duration.ofSeconds(2);

    private final BooleanSupplier leaving;

    /** @param leaving whether the node has been told to leave */
    Ends(BooleanSupplier leaving) {
        this.leaving = leaving;
    }

    /**
     * @throws AttemptFailed if the child did not end well
     * @throws AttemptStopped if we ended it
     */
    void judge(Child.End end, Trial trial, EngineDriver driver) {
        ClaimedShard shard = trial.shard();
        Policy policy = shard.manifest().policy();
        if (end instanceof Child.End.TimedOut) {
            throw new AttemptFailed(
                    FailureClass.TIMEOUT, "ran longer than " + Durations.format(policy.attemptTimeout()));
        } else if (end instanceof Child.End.Stalled) {
            throw new AttemptFailed(
                    FailureClass.STALLED, "neither log nor output grew for " + Durations.format(policy.stallTimeout()));
        } else if (end instanceof Child.End.Stopped stopped) {
            throw new AttemptStopped(stopped.reason());
        } else if (end instanceof Child.End.Exited exited && isEndedWithTheNode(exited.code())) {
            throw new AttemptStopped("ended together with the node");
        } else if (end instanceof Child.End.Exited exited && exited.code() != 0) {
            throw ended(trial, driver, exited.code());
        }
    }

    /** Which of the two learns first is chance. */
    private boolean isEndedWithTheNode(int code) {
        if (!FROM_SCHEDULERS.contains(code - SIGNALLED)) {
            return false;
        }
        long deadline = System.nanoTime() + NEWS.toNanos();
        while (!leaving.getAsBoolean() && System.nanoTime() < deadline) {
            LockSupport.parkNanos(Duration.ofMillis(20).toNanos());
        }
        return leaving.getAsBoolean();
    }

    private static AttemptFailed ended(Trial trial, EngineDriver driver, int code) {
        return code > SIGNALLED && code <= SIGNALLED + SIGNALS
                ? new AttemptFailed(
                        FailureClass.INFRA,
                        "killed by signal " + (code - SIGNALLED)
                                + (code == SIGNALLED + 9 ? " (out of memory? see the kernel log)" : ""))
                : unlessMountIsToBlame(trial.shard(), driver.explain(trial, code));
    }

    /** A program that met a full disk or a dead mount ends with an error as if its input were bad. */
    private static AttemptFailed unlessMountIsToBlame(ClaimedShard shard, AttemptFailed failure) {
        return failure.failureClass() != FailureClass.DATA
                ? failure
                : Disk.trouble(shard.attempt().path(), shard.shard().bytes())
                        .map(trouble -> new AttemptFailed(
                                FailureClass.INFRA, failure.getMessage() + ", and nothing can be written: " + trouble))
                        .orElse(failure);
    }
}
