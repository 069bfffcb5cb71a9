package dev.caravan.shard;

import com.fasterxml.jackson.annotation.JsonValue;
import java.util.Locale;

/** How an attempt stands. An attempt whose node died stays running in its own record; the next claim tells. */
public enum AttemptStatus {
    RUNNING,
    DONE,
    FAILED,
    /** The node lost its lease and ended the attempt itself. */
    LOST,
    /** Another attempt published first. */
    SUPERSEDED,
    PREEMPTED,
    /** Its job was cancelled. */
    CANCELLED;

    @JsonValue
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
