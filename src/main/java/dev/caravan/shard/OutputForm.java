package dev.caravan.shard;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;
import java.util.Locale;

/** What a merge leaves. */
public enum OutputForm {
    /** One file of all results. */
    FILE,
    /** A folder with a file for each shard and an index of them: {@link PartsIndex}. */
    PARTS;

    @JsonCreator
    public static OutputForm parse(String text) {
        for (OutputForm each : values()) {
            if (each.toString().equals(text)) {
                return each;
            }
        }
        throw new IllegalArgumentException("expected file or parts, found '" + text + "'");
    }

    @JsonValue
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
