package dev.caravan.settings;

import java.util.regex.Pattern;

/** What a setting holds. The packaged default shows it: {@code 45s}, {@code 1GiB}, {@code 32}, {@code true}, anything else. */
enum Kind {
    DURATION("\\d+(ms|s|m|h|d)", Durations.EXPECTED) {
        @Override
        void check(String text) {
            Durations.parse(text);
        }
    },
    SIZE("(?i)\\d+([kmgt]i?)?b", ByteSizes.EXPECTED) {
        @Override
        void check(String text) {
            ByteSizes.parse(text);
        }
    },
    INTEGER("-?\\d+", "expected a whole number") {
        @Override
        void check(String text) {
            try {
                Integer.parseInt(text);
            } catch (NumberFormatException e) {
                throw refusal(text);
            }
        }
    },
    BOOLEAN("true|false", "expected true or false") {
        @Override
        void check(String text) {
            if (!isFormOf(text)) {
                throw refusal(text);
            }
        }
    },
    TEXT(".*", "expected text") {
        @Override
        void check(String text) {}
    };

    private final Pattern form;
    private final String expected;

    Kind(String form, String expected) {
        this.form = Pattern.compile(form);
        this.expected = expected;
    }

    /** @throws IllegalArgumentException with what was expected, what was found, and advice */
    abstract void check(String text);

    String expected() {
        return expected;
    }

    boolean isFormOf(String text) {
        return form.matcher(text).matches();
    }

    IllegalArgumentException refusal(String text) {
        return new IllegalArgumentException(expected + ", found '" + text + "'");
    }

    static Kind ofDefault(YamlNode.Scalar value) {
        if (value.quoted()) {
            return TEXT;
        }
        for (Kind kind : values()) {
            if (kind.isFormOf(value.text())) {
                return kind;
            }
        }
        return TEXT;
    }
}
