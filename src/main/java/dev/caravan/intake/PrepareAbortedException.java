package dev.caravan.intake;

import dev.caravan.CaravanException;

/** This node lost the right to prepare the job, and has stopped without leaving anything behind. */
public final class PrepareAbortedException extends CaravanException {
    PrepareAbortedException(String message) {
        super(message);
    }
}
