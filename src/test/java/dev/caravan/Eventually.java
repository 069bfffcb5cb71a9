package dev.caravan;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.locks.LockSupport;

/** Waits for an event with a limit that is generous enough for an overloaded machine. */
public final class Eventually {
    private static final Duration LIMIT = Duration.ofSeconds(30);

    private Eventually() {}

    public static void until(String what, Callable<Boolean> happened) throws Exception {
        long deadline = System.nanoTime() + LIMIT.toNanos();
        while (!happened.call()) {
            if (System.nanoTime() - deadline > 0) {
                throw new AssertionError("still not after " + LIMIT.toSeconds() + " s: " + what);
            }
            LockSupport.parkNanos(5_000_000);
        }
    }
}
