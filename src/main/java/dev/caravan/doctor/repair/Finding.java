package dev.caravan.doctor.repair;

import com.fasterxml.jackson.annotation.JsonValue;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Something in a job directory that is not as it should be, or looks so.
 *
 * @param path relative to the job directory, or absolute outside of it
 * @param found what is there
 * @param meaning what follows from it
 * @param fix what a repair does; null if it does nothing
 * @param outcome of the repair; null if there was none
 */
public record Finding(
        Need need,
        String path,
        String found,
        String meaning,
        @Nullable String fix,
        @Nullable String outcome) {

    public enum Need {
        /** Harmless, or the nodes see to it by themselves. */
        NOTHING,
        /** A repair is provably right. */
        FIX,
        /** Somebody must decide. */
        PERSON,
        /** It was repaired. */
        FIXED;

        @JsonValue
        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    Finding repaired(String how) {
        return new Finding(Need.FIXED, path, found, meaning, fix, how);
    }

    Finding notRepaired(String why) {
        return new Finding(need, path, found, meaning, fix, why);
    }

    /** One line for people. */
    @Override
    public String toString() {
        return "%-7s  %s: %s; %s%s%s"
                .formatted(
                        need,
                        path,
                        found,
                        meaning,
                        fix == null ? "" : "; --fix: " + fix,
                        outcome == null ? "" : " -> " + outcome);
    }
}
