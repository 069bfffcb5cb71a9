package dev.caravan.intake;

import dev.caravan.CaravanException;

/** The input or the request does not allow a job to be prepared. Nothing was left behind. */
public final class IntakeException extends CaravanException {
    public IntakeException(String message) {
        super(message);
    }

    public IntakeException(String message, Throwable cause) {
        super(message, cause);
    }
}
