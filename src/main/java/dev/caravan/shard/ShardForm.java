package dev.caravan.shard;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;
import java.util.Locale;

/** How a prepared job keeps its shards. */
public enum ShardForm {
    /** As places in the input files; a node cuts a shard out when it works on it. */
    RANGES,
    /** As files of their own in the job directory. */
    FILES;

    @JsonCreator
    public static ShardForm parse(String text) {
        for (ShardForm each : values()) {
            if (each.toString().equals(text)) {
                return each;
            }
        }
        throw new IllegalArgumentException("shards must be ranges or files, not '" + text + "'");
    }

    @JsonValue
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
