package dev.caravan.finalize;

/** Some result is not there as its record says; or this node cannot see it yet, where a mount shows new names late. */
public final class IncompleteException extends MergeException {
    IncompleteException(String message) {
        super(message);
    }
}
