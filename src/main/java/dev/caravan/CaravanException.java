package dev.caravan;

/**
 * The root of everything Caravan reports to a person: the message says what was expected, what was found, where, and
 * what to do next. The command line prints the message alone and exits with 2.
 */
public class CaravanException extends RuntimeException {
    public CaravanException(String message) {
        super(message);
    }

    public CaravanException(String message, Throwable cause) {
        super(message, cause);
    }
}
