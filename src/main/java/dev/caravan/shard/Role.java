package dev.caravan.shard;

import com.fasterxml.jackson.annotation.JsonValue;
import java.util.Locale;

/** Work that is done once for a job, by whichever node holds its lease. */
public enum Role {
    PREPARE,
    FINALIZE;

    @JsonValue
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
