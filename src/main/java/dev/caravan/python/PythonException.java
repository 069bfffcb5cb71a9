package dev.caravan.python;

import dev.caravan.CaravanException;

/** The Python side cannot be used as it is; the message says what to install or to set. */
public final class PythonException extends CaravanException {
    public PythonException(String message) {
        super(message);
    }

    public PythonException(String message, Throwable cause) {
        super(message, cause);
    }
}
