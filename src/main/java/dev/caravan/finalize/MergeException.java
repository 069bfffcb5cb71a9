package dev.caravan.finalize;

import dev.caravan.CaravanException;

/** The results were not merged. Nothing half-written is left. */
public class MergeException extends CaravanException {
    MergeException(String message) {
        super(message);
    }

    MergeException(String message, Throwable cause) {
        super(message, cause);
    }
}
