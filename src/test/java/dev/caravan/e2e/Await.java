package dev.caravan.e2e;

import static org.assertj.core.api.Assertions.fail;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.function.Supplier;

/** Waits for an event with a limit that only a fault reaches. */
public final class Await {
    static final Duration LIMIT = Duration.ofMinutes(3);
    private static final Duration LOOK_EVERY = Duration.ofMillis(20);

    private Await() {}

    public static void until(String event, Callable<Boolean> happened) {
        until(event, happened, () -> "");
    }

    /** @param evidence told if the event does not happen */
    static void until(String event, Callable<Boolean> happened, Supplier<String> evidence) {
        long deadline = System.nanoTime() + LIMIT.toNanos();
        try {
            while (!happened.call()) {
                if (System.nanoTime() > deadline) {
                    fail("waited " + LIMIT + " in vain until " + event + "\n" + evidence.get());
                }
                Thread.sleep(LOOK_EVERY.toMillis());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while waiting until " + event, e);
        } catch (Exception e) {
            throw new IllegalStateException("cannot see whether " + event, e);
        }
    }
}
