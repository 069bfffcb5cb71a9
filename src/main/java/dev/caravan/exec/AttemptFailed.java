package dev.caravan.exec;

import dev.caravan.CaravanException;
import dev.caravan.shard.FailureClass;

/** The attempt has no result. */
final class AttemptFailed extends CaravanException {
    private final FailureClass failureClass;

    AttemptFailed(FailureClass failureClass, String message) {
        super(message);
        this.failureClass = failureClass;
    }

    FailureClass failureClass() {
        return failureClass;
    }
}
