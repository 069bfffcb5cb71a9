package dev.caravan.status;

import com.fasterxml.jackson.annotation.JsonValue;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicLongArray;

/** How often each thing has happened on this node since it started. Thread-safe. */
public final class EventCounts {
    public enum Kind {
        ACCEPTED,
        PREPARED,
        CLAIMED,
        TAKEN_OVER,
        SPECULATED,
        DONE,
        FAILED,
        FINISHED;

        @JsonValue
        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    private final AtomicLongArray counts = new AtomicLongArray(Kind.values().length);

    public void count(Kind kind) {
        counts.incrementAndGet(kind.ordinal());
    }

    public long of(Kind kind) {
        return counts.get(kind.ordinal());
    }
}
