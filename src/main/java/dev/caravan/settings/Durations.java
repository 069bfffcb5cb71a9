package dev.caravan.settings;

import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Durations as people write them: {@code 500ms}, {@code 8s}, {@code 2m}, {@code 35h}, {@code 1d}. */
public final class Durations {
    public static final String EXPECTED = "expected a duration (a whole number and a unit: 500ms, 8s, 2m, 35h, 1d)";
    private static final Pattern FORM = Pattern.compile("(\\d+)\\s*(ms|s|m|h|d)");
    private static final Pattern PLAIN = Pattern.compile("\\d+");
    private static final Pattern NEGATIVE = Pattern.compile("-\\s*\\d.*");

    private Durations() {}

    /** @throws IllegalArgumentException with what was expected, what was found, and advice */
    public static Duration parse(String text) {
        String trimmed = text.trim();
        Matcher form = FORM.matcher(trimmed);
        if (!form.matches()) {
            throw new IllegalArgumentException(EXPECTED + ", found '" + text + "'" + advice(trimmed));
        }
        try {
            return of(Long.parseLong(form.group(1)), form.group(2));
        } catch (ArithmeticException | NumberFormatException e) {
            throw new IllegalArgumentException(EXPECTED + ", found '" + text + "', which is too long");
        }
    }

    private static Duration of(long number, String unit) {
        Duration duration = switch (unit) {
            case "ms" -> Duration.ofMillis(number);
            case "s" -> Duration.ofSeconds(number);
            case "m" -> Duration.ofMinutes(number);
            case "h" -> Duration.ofHours(number);
            default -> Duration.ofDays(number);
        };
        duration.toNanos(); // whoever measures with a nanosecond clock can hold it
        return duration;
    }

    private static String advice(String text) {
        if (PLAIN.matcher(text).matches()) {
            return ": the unit is missing; write " + text + "s if seconds are meant";
        }
        return NEGATIVE.matcher(text).matches() ? ": a duration cannot be negative" : "";
    }

    /** The shortest form that {@link #parse} reads back; parts below a millisecond are lost. */
    public static String format(Duration duration) {
        long millis = duration.toMillis();
        if (millis % 1_000 != 0) {
            return millis + "ms";
        }
        long seconds = millis / 1_000;
        if (seconds == 0 || seconds % 60 != 0) {
            return seconds + "s";
        }
        if (seconds % 3_600 != 0) {
            return seconds / 60 + "m";
        }
        return seconds % 86_400 == 0 ? seconds / 86_400 + "d" : seconds / 3_600 + "h";
    }
}
