package dev.caravan.shard;

import com.fasterxml.jackson.annotation.JsonValue;
import java.util.Locale;

/** Why an attempt failed. Each class has a budget of its own, so that losing nodes never uses up the data budget. */
public enum FailureClass {
    /** The recipe or program failed on the input. */
    DATA,
    /** The node was lost, the child was killed by a signal or ran out of memory, disk or mount. */
    INFRA,
    /** The child made no progress. */
    STALLED,
    /** The attempt ran longer than the job allows. */
    TIMEOUT;

    @JsonValue
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
