package dev.caravan.jsonl;

/**
 * One line of a source, without its line end. The bytes lie in the reader's buffer and are good only until the next
 * line is asked for.
 *
 * @param from first byte of the line in {@code buffer}
 * @param to one after the last byte
 * @param number 1-based
 * @param offset of the line's first byte from the start of the source, a byte order mark included
 * @param terminated whether a line feed followed; false only for the last line of a source
 */
public record Line(byte[] buffer, int from, int to, long number, long offset, boolean terminated) {

    public int length() {
        return to - from;
    }

    /** Whether the line holds nothing but blanks, tabs and carriage returns. */
    public boolean isBlank() {
        for (int i = from; i < to; i++) {
            if (buffer[i] != ' ' && buffer[i] != '\t' && buffer[i] != '\r') {
                return false;
            }
        }
        return true;
    }
}
