package dev.caravan;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/** A monotonic clock that moves only when told. It starts below zero, as real ones may. */
public final class FakeNanos implements LongSupplier {
    private final AtomicLong now = new AtomicLong(-Duration.ofSeconds(7).toNanos());

    @Override
    public long getAsLong() {
        return now.get();
    }

    public void pass(Duration time) {
        now.addAndGet(time.toNanos());
    }

    public void passSeconds(long seconds) {
        pass(Duration.ofSeconds(seconds));
    }
}
