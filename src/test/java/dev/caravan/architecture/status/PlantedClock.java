package dev.caravan.architecture.status;

import java.time.Clock;
import java.time.Instant;
import java.util.function.LongSupplier;

/** Violations: time that nobody handed in, by calls and by reference. */
public final class PlantedClock {
    public final Instant now = Instant.now();
    public final long millis = System.currentTimeMillis();
    public final LongSupplier nanos = System::nanoTime;
    public final Clock clock = Clock.systemUTC();
}
