package dev.caravan.job;

import java.util.regex.Pattern;

/** Numbers as a descriptor holds them; others are refused with what was expected. */
final class Numbers {
    private static final Pattern DECIMAL = Pattern.compile("\\d+(\\.\\d+)?([eE][+-]?\\d+)?");

    static final String YES_OR_NO = "expected true or false";
    static final String PERCENT = "expected a number from 0 to 100";

    private Numbers() {}

    static double percent(String text) {
        double percent = decimal(text, true, PERCENT);
        if (percent > 100) {
            throw new IllegalArgumentException(PERCENT + ", found '" + text + "'");
        }
        return percent;
    }

    static int whole(String text, int least, String expected) {
        try {
            int number = Integer.parseInt(text);
            if (number >= least) {
                return number;
            }
        } catch (NumberFormatException e) {
            // reported below, as a number out of range is
        }
        throw new IllegalArgumentException(expected + ", found '" + text + "'");
    }

    static double decimal(String text, boolean zeroAllowed, String expected) {
        double number = DECIMAL.matcher(text).matches() ? Double.parseDouble(text) : Double.NaN;
        if (Double.isFinite(number) && (number > 0 || zeroAllowed)) {
            return number;
        }
        throw new IllegalArgumentException(expected + ", found '" + text + "'");
    }

    static boolean yesOrNo(String text) {
        if (!text.equals("true") && !text.equals("false")) {
            throw new IllegalArgumentException(YES_OR_NO + ", found '" + text + "'");
        }
        return text.equals("true");
    }
}
