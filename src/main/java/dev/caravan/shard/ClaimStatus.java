package dev.caravan.shard;

import com.fasterxml.jackson.annotation.JsonValue;
import java.util.Locale;

/**
 * How a claim stands. It is made running, and its owner ends it once: running -> done | failed | released | preempted |
 * superseded. A claim whose owner died stays running for ever; a higher epoch replaces it.
 */
public enum ClaimStatus {
    RUNNING,
    /** The result is published. */
    DONE,
    /** The attempt failed; the claim carries the failure class. */
    FAILED,
    /** Given back without an attempt that counts. */
    RELEASED,
    /** The node had to leave. */
    PREEMPTED,
    /** Another epoch took over or published first. */
    SUPERSEDED;

    public boolean mayBecome(ClaimStatus next) {
        return this == RUNNING && next != RUNNING;
    }

    @JsonValue
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
