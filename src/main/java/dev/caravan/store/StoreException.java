package dev.caravan.store;

import dev.caravan.CaravanException;

/** The shared directory did not do what was asked of it, or holds what it should not. */
public class StoreException extends CaravanException {
    public StoreException(String message) {
        super(message);
    }

    public StoreException(String message, Throwable cause) {
        super(message, cause);
    }
}
