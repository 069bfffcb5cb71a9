package dev.caravan.doctor;

import com.fasterxml.jackson.annotation.JsonValue;

/** What a measurement means for Caravan; the worst counts. */
public enum Grade {
    OK("ok"),
    WARN("warn"),
    /** Caravan must not run here. */
    FAIL("FAIL");

    private final String text;

    Grade(String text) {
        this.text = text;
    }

    @JsonValue
    @Override
    public String toString() {
        return text;
    }

    Grade or(Grade other) {
        return compareTo(other) >= 0 ? this : other;
    }
}
