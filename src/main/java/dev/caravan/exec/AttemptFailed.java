package dev.caravan.exec;

import dev.caravan.CaravanException;
import dev.caravan.shard.FailureClass;
import org.jspecify.annotations.Nullable;

/** The attempt has no result. */
final class AttemptFailed extends CaravanException {
    private final FailureClass failureClass;
    private final transient @Nullable Suspicion suspicion;
    private final boolean forGood;

    AttemptFailed(FailureClass failureClass, String message) {
        this(failureClass, message, null, false);
    }

    private AttemptFailed(FailureClass failureClass, String message, @Nullable Suspicion suspicion, boolean forGood) {
        super(message);
        this.failureClass = failureClass;
        this.suspicion = suspicion;
        this.forGood = forGood;
    }

    /**
     * That some record may be to blame, and what the engine tells of it.
     *
     * @param stackSha256 of the operator's stack trace: equal for equal faults
     */
    record Suspicion(
            @Nullable String operator,
            @Nullable String errorClass,
            @Nullable String stackSha256) {
        static final Suspicion UNKNOWN = new Suspicion(null, null, null);
    }

    static AttemptFailed onSomeRecord(String message, Suspicion suspicion) {
        return new AttemptFailed(FailureClass.DATA, message, suspicion, false);
    }

    /** No further attempt can help. */
    static AttemptFailed forGood(String message) {
        return new AttemptFailed(FailureClass.DATA, message, null, true);
    }

    FailureClass failureClass() {
        return failureClass;
    }

    @Nullable
    Suspicion suspicion() {
        return suspicion;
    }

    boolean isForGood() {
        return forGood;
    }
}
