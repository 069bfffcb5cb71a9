package dev.caravan.settings;

import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Amounts of bytes as people write them: {@code 1048576}, {@code 512MB} (decimal), {@code 2GiB} (binary). */
public final class ByteSizes {
    public static final String EXPECTED = "expected a size (bytes, or a whole number and a unit: 512MB, 2GiB)";
    private static final Pattern FORM = Pattern.compile("(\\d+)\\s*([A-Za-z]*)");
    private static final Map<String, Long> UNITS = Map.of(
            "", 1L,
            "b", 1L,
            "kb", 1_000L,
            "mb", 1_000_000L,
            "gb", 1_000_000_000L,
            "tb", 1_000_000_000_000L,
            "kib", 1L << 10,
            "mib", 1L << 20,
            "gib", 1L << 30,
            "tib", 1L << 40);

    private ByteSizes() {}

    /** @throws IllegalArgumentException with what was expected and what was found */
    public static long parse(String text) {
        Matcher form = FORM.matcher(text.trim());
        Long unit = form.matches() ? UNITS.get(form.group(2).toLowerCase(Locale.ROOT)) : null;
        if (unit == null) {
            throw new IllegalArgumentException(EXPECTED + ", found '" + text + "'");
        }
        try {
            return Math.multiplyExact(Long.parseLong(form.group(1)), unit);
        } catch (ArithmeticException | NumberFormatException e) {
            throw new IllegalArgumentException(EXPECTED + ", found '" + text + "', which is too large");
        }
    }
}
