package dev.caravan.lease;

import dev.caravan.CaravanException;

/** The claim is no longer ours: nothing of this attempt may be published. */
public final class LeaseLostException extends CaravanException {
    public LeaseLostException(String message) {
        super(message);
    }
}
