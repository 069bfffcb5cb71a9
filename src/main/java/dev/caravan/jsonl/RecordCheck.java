package dev.caravan.jsonl;

import java.util.Optional;

/**
 * Judges whether a line is one JSON object by RFC 8259 in strict UTF-8, in one pass, without recursion and without
 * building anything. Escapes of unpaired surrogates and repeated keys are valid JSON and pass. Not thread-safe.
 */
public final class RecordCheck {
    /** Deepest nesting of objects and arrays in a record, the record itself counted: what common parsers accept. */
    public static final int MAX_DEPTH = 1000;

    private enum Expect {
        FIRST_KEY,
        KEY,
        FIRST_ELEMENT,
        VALUE,
        COMMA_OR_CLOSE
    }

    private final boolean[] isObject = new boolean[MAX_DEPTH];
    private final int[] firstKey = new int[MAX_DEPTH];
    private final RepeatedKeys keys = new RepeatedKeys();
    private boolean escaped;
    private byte[] b = {};
    private int from;
    private int to;
    private Optional<Flaw> flaw = Optional.empty();

    /** Empty if the bytes from {@code from} to {@code to} are a record. */
    public Optional<Flaw> check(byte[] buffer, int from, int to) {
        int behind = skip(buffer, from, to);
        if (behind >= 0) {
            end(behind);
        }
        return flaw;
    }

    /**
     * The index behind the record that starts at {@code from}, or below 0 if there is none. What follows is not looked
     * at, so that {@code to} may lie many lines further on: a record does not go on behind a line feed.
     */
    public int skip(byte[] buffer, int from, int to) {
        this.b = buffer;
        this.from = from;
        this.to = to;
        flaw = Optional.empty();
        int start = skipSpace(from);
        if (start == to) {
            return fail(start, "blank line; each line must be one JSON object");
        }
        if (b[start] != '{' || skipSpace(start + 1) == to) {
            return fail(start, NotARecord.reason(b, start, to));
        }
        return members(start);
    }

    /** Whether the record that was found last, or an object in it, has a key twice. */
    public boolean repeatsKey() {
        return keys.found();
    }

    private int members(int start) {
        int depth = 1;
        isObject[0] = true;
        keys.begin();
        firstKey[0] = keys.open();
        Expect expect = Expect.FIRST_KEY;
        int i = start + 1;
        while (true) {
            i = skipSpace(i);
            if (i == to) {
                return fail(i, "broken JSON: the line ends with " + depth + " level(s) of nesting still open");
            }
            byte c = b[i];
            boolean inObject = isObject[depth - 1];
            boolean closes = c == (inObject ? '}' : ']') && expect != Expect.KEY && expect != Expect.VALUE;
            if (closes) {
                i++;
                depth--;
                if (inObject) {
                    keys.close(b, firstKey[depth]);
                }
                if (depth == 0) {
                    return i;
                }
                expect = Expect.COMMA_OR_CLOSE;
                continue;
            }
            switch (expect) {
                case FIRST_KEY, KEY -> {
                    i = c == '"' ? key(i) : unexpected(i, "expected a key in double quotes");
                    i = i < 0 ? i : colon(skipSpace(i));
                    expect = Expect.VALUE;
                }
                case FIRST_ELEMENT, VALUE -> {
                    if (c == '{' || c == '[') {
                        if (depth == MAX_DEPTH) {
                            return fail(i, "nested deeper than " + MAX_DEPTH + " levels");
                        }
                        isObject[depth] = c == '{';
                        firstKey[depth++] = keys.open();
                        expect = c == '{' ? Expect.FIRST_KEY : Expect.FIRST_ELEMENT;
                        i++;
                    } else {
                        i = scalar(i, c);
                        expect = Expect.COMMA_OR_CLOSE;
                    }
                }
                case COMMA_OR_CLOSE -> {
                    i = c == ',' ? i + 1 : unexpected(i, inObject ? "expected ',' or '}'" : "expected ',' or ']'");
                    expect = inObject ? Expect.KEY : Expect.VALUE;
                }
            }
            if (i < 0) {
                return i;
            }
        }
    }

    private void end(int i) {
        i = skipSpace(i);
        if (i < to) {
            unexpected(i, b[i] == '{' ? "a second object on the same line" : "more text after the end of the object");
        }
    }

    private int skipSpace(int i) {
        while (i < to && (b[i] == ' ' || b[i] == '\t' || b[i] == '\r')) {
            i++;
        }
        return i;
    }

    private int key(int open) {
        escaped = false;
        int behind = string(open);
        if (behind > 0) {
            keys.add(b, open, behind, escaped);
        }
        return behind;
    }

    private int colon(int i) {
        return i < to && b[i] == ':' ? i + 1 : unexpected(i, "expected ':' after a key");
    }

    private int scalar(int i, byte c) {
        return switch (c) {
            case '"' -> string(i);
            case 't' -> word(i, "true");
            case 'f' -> word(i, "false");
            case 'n' -> word(i, "null");
            case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9' -> number(i);
            case 'N', 'I' -> unexpected(i, "NaN and Infinity are not JSON; write null, a number or a string");
            default -> unexpected(i, "expected a value");
        };
    }

    private int string(int open) {
        int i = open + 1;
        while (true) {
            i = Strings.skipPlain(b, i, to);
            if (i == to) {
                return fail(open, "broken JSON: the line ends inside a string, which starts here");
            }
            byte c = b[i];
            if (c == '"') {
                return i + 1;
            }
            int behind = c == '\\' ? escape(i) : Utf8.skipRun(b, i, to);
            if (behind <= i) {
                return unexpected(i, "control characters in a string must be escaped");
            }
            i = behind;
        }
    }

    /** The index behind the escape that starts at {@code i}, or below 0. */
    private int escape(int i) {
        escaped = true;
        if (i + 1 == to) {
            return fail(i, "broken JSON: the line ends inside an escape");
        }
        switch (b[i + 1]) {
            case '"', '\\', '/', 'b', 'f', 'n', 'r', 't' -> {
                return i + 2;
            }
            case 'u' -> {
                for (int k = i + 2; k < i + 6; k++) {
                    if (k == to || Character.digit(b[k], 16) < 0) {
                        return fail(i, "broken JSON: \\u must be followed by four hexadecimal digits");
                    }
                }
                return i + 6;
            }
            default -> {
                return fail(i, "broken JSON: there is no escape of this letter after a backslash");
            }
        }
    }

    private int word(int i, String word) {
        for (int k = 0; k < word.length(); k++) {
            if (i + k == to || b[i + k] != word.charAt(k)) {
                return unexpected(i, "expected a value, such as " + word);
            }
        }
        return i + word.length();
    }

    private int number(int start) {
        int i = b[start] == '-' ? start + 1 : start;
        if (i < to && b[i] == 'I') {
            return scalar(i, b[i]);
        }
        int digits = skipDigits(i);
        if (digits == i) {
            return fail(start, "broken JSON: a minus sign without a number");
        }
        if (b[i] == '0' && digits > i + 1) {
            return fail(start, "broken JSON: a number with leading zeros");
        }
        i = digits;
        if (i < to && b[i] == '.') {
            digits = skipDigits(i + 1);
            if (digits == i + 1) {
                return fail(start, "broken JSON: a number without digits after the point");
            }
            i = digits;
        }
        if (i < to && (b[i] == 'e' || b[i] == 'E')) {
            int exponent = i + 1 < to && (b[i + 1] == '+' || b[i + 1] == '-') ? i + 2 : i + 1;
            digits = skipDigits(exponent);
            if (digits == exponent) {
                return fail(start, "broken JSON: a number without digits in its exponent");
            }
            i = digits;
        }
        return i;
    }

    private int skipDigits(int i) {
        while (i < to && b[i] >= '0' && b[i] <= '9') {
            i++;
        }
        return i;
    }

    private int unexpected(int i, String expected) {
        if (i < to && b[i] < 0 && Utf8.skip(b, i, to) < 0) {
            return fail(i, NotARecord.notUtf8(b[i]));
        }
        return fail(i, "broken JSON: " + expected + (i == to ? ", found the end of the line" : ""));
    }

    /** Keeps the first flaw, which is the one nearest to its cause. */
    private int fail(int i, String reason) {
        if (flaw.isEmpty()) {
            flaw = Optional.of(new Flaw(i - from, reason));
        }
        return -1;
    }
}
