package dev.caravan.exec;

import dev.caravan.CaravanException;

/** We ended the attempt ourselves. */
final class AttemptStopped extends CaravanException {
    AttemptStopped(String reason) {
        super(reason);
    }
}
