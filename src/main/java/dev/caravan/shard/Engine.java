package dev.caravan.shard;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;
import java.util.stream.Stream;

/** What processes a shard. */
public enum Engine {
    DATA_JUICER("data-juicer"),
    COMMAND("command"),
    PLAN_EXECUTE("plan-execute"),
    MINI_BATCH("mini-batch");

    private final String text;

    Engine(String text) {
        this.text = text;
    }

    /** Whether a Python file of the user's says what is to be done, and does it. */
    public boolean isScripted() {
        return this == PLAN_EXECUTE || this == MINI_BATCH;
    }

    /** All of them, for messages. */
    public static String names() {
        return String.join(", ", Stream.of(values()).map(Engine::toString).toList());
    }

    @JsonCreator
    public static Engine parse(String text) {
        for (Engine engine : values()) {
            if (engine.text.equals(text)) {
                return engine;
            }
        }
        throw new IllegalArgumentException("engine must be one of " + names() + ", not '" + text + "'");
    }

    @JsonValue
    @Override
    public String toString() {
        return text;
    }
}
