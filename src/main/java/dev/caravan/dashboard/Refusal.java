package dev.caravan.dashboard;

import dev.caravan.CaravanException;

/** An answer that is not what was asked for, with its HTTP status. */
final class Refusal extends CaravanException {
    private final int status;

    Refusal(int status, String message) {
        super(message);
        this.status = status;
    }

    static Refusal unknown(String what) {
        return new Refusal(404, "there is no " + what);
    }

    int status() {
        return status;
    }
}
