package dev.caravan.intake;

import dev.caravan.CaravanException;

/** Somebody wrote to the input while the job was prepared. Nothing was left behind; prepare may be run again. */
public final class InputChangedException extends CaravanException {
    InputChangedException(String what) {
        super(advised(what));
    }

    InputChangedException(String what, Throwable cause) {
        super(advised(what), cause);
    }

    private static String advised(String what) {
        return what + ". Wait until nothing writes to the input any more, then prepare again";
    }
}
