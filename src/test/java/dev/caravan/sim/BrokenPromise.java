package dev.caravan.sim;

/** The protocol did what it promises not to do. */
final class BrokenPromise extends AssertionError {
    private final Promise promise;

    BrokenPromise(Promise promise, String what) {
        super("broken: " + promise + ": " + what);
        this.promise = promise;
    }

    Promise promise() {
        return promise;
    }
}
