package dev.caravan.doctor;

import com.fasterxml.jackson.annotation.JsonProperty;

/** One line of the diagnosis. */
public record Measured(
        Property property,
        String measured,
        @JsonProperty("verdict") Grade grade) {
    static Measured ok(Property property, String measured) {
        return new Measured(property, measured, Grade.OK);
    }

    static Measured warn(Property property, String measured) {
        return new Measured(property, measured, Grade.WARN);
    }

    static Measured fail(Property property, String measured) {
        return new Measured(property, measured, Grade.FAIL);
    }

    @JsonProperty
    String why() {
        return property.why();
    }
}
