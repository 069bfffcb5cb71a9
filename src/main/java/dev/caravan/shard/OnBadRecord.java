package dev.caravan.shard;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;
import java.util.Locale;

/** What becomes of input lines that are not records. */
public enum OnBadRecord {
    /** The first one ends the job before any work. */
    FAIL,
    /** They are set aside, with all that is needed to repair them, and the job goes on without. */
    QUARANTINE;

    @JsonCreator
    public static OnBadRecord parse(String text) {
        for (OnBadRecord each : values()) {
            if (each.toString().equals(text)) {
                return each;
            }
        }
        throw new IllegalArgumentException("on_bad_record must be fail or quarantine, not '" + text + "'");
    }

    @JsonValue
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
