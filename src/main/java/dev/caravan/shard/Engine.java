package dev.caravan.shard;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;

/** What processes a shard. */
public enum Engine {
    DATA_JUICER("data-juicer"),
    COMMAND("command");

    private final String text;

    Engine(String text) {
        this.text = text;
    }

    @JsonCreator
    public static Engine parse(String text) {
        for (Engine engine : values()) {
            if (engine.text.equals(text)) {
                return engine;
            }
        }
        throw new IllegalArgumentException("engine must be data-juicer or command, not '" + text + "'");
    }

    @JsonValue
    @Override
    public String toString() {
        return text;
    }
}
