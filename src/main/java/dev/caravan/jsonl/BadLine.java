package dev.caravan.jsonl;

import java.nio.charset.StandardCharsets;

/**
 * A line that is not a record, as it is shown to people.
 *
 * @param line 1-based
 * @param offset of the first wrong byte from the start of the source
 * @param column of the first wrong byte within the line, 1-based, in bytes
 * @param found text around that byte, at most {@value #FOUND_LENGTH} characters, without control characters
 */
public record BadLine(long line, long offset, int column, String reason, String found) {
    private static final int FOUND_LENGTH = 80;
    private static final int FOUND_BEFORE = 30;

    public static BadLine of(Line line, Flaw flaw) {
        return new BadLine(
                line.number(),
                line.offset() + flaw.position(),
                flaw.position() + 1,
                flaw.reason(),
                excerpt(line, line.from() + flaw.position()));
    }

    /** Starts a little before the flaw; bytes that are not printable ASCII or valid UTF-8 are shown as {@code \xff}. */
    private static String excerpt(Line line, int at) {
        byte[] b = line.buffer();
        int start = Math.max(line.from(), at - FOUND_BEFORE);
        while (start > line.from() && (b[start] & 0xC0) == 0x80) {
            start--;
        }
        StringBuilder text = new StringBuilder(start > line.from() ? "..." : "");
        int i = start;
        while (i < line.to()) {
            int behind = b[i] >= 0 ? i + 1 : Utf8.skip(b, i, line.to());
            String shown = behind < 0 ? escaped(b[i]) : shown(b, i, behind);
            if (text.length() + shown.length() > FOUND_LENGTH - 3 && (behind < 0 || behind < line.to())) {
                return text.append("...").toString();
            }
            text.append(shown);
            i = behind < 0 ? i + 1 : behind;
        }
        return text.toString();
    }

    private static String shown(byte[] b, int from, int to) {
        String text = new String(b, from, to - from, StandardCharsets.UTF_8);
        int c = text.codePointAt(0);
        if (c < 0x80) {
            return Character.isISOControl(c) ? escaped(b[from]) : text;
        }
        int type = Character.getType(c);
        boolean invisible = Character.isISOControl(c)
                || type == Character.FORMAT
                || type == Character.LINE_SEPARATOR
                || type == Character.PARAGRAPH_SEPARATOR;
        return invisible ? "\\u%04x".formatted(c) : text;
    }

    private static String escaped(byte c) {
        return "\\x%02x".formatted(c & 0xFF);
    }

    @Override
    public String toString() {
        return "line " + line + ", byte " + offset + " (column " + column + "): " + reason + "; found: " + found;
    }
}
