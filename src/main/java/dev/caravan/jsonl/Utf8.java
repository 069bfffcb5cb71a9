package dev.caravan.jsonl;

/** The multi-byte sequences of UTF-8 as RFC 3629 allows them: no overlong forms, no surrogates, nothing past U+10FFFF. */
final class Utf8 {
    private Utf8() {}

    /** The first byte at or after {@code i} that is ASCII or not UTF-8, or {@code to}. */
    static int skipRun(byte[] b, int i, int to) {
        while (i < to && b[i] < 0) {
            int lead = b[i] & 0xFF;
            boolean common = lead > 0xE0 && lead < 0xED && to - i >= 3; // most of CJK, without special cases
            if (common && (b[i + 1] & 0xC0) == 0x80 && (b[i + 2] & 0xC0) == 0x80) {
                i += 3;
                continue;
            }
            int behind = skip(b, i, to);
            if (behind < 0) {
                return i;
            }
            i = behind;
        }
        return i;
    }

    /** The index behind the sequence that starts at {@code i} with a byte of 0x80 or more, or -1 if it is not UTF-8. */
    static int skip(byte[] b, int i, int to) {
        int lead = b[i] & 0xFF;
        if (lead < 0xC2 || lead > 0xF4) {
            return -1;
        }
        int length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
        if (to - i < length) {
            return -1;
        }
        int second = b[i + 1] & 0xFF;
        int lowest = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
        int highest = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
        if (second < lowest || second > highest) {
            return -1;
        }
        for (int k = i + 2; k < i + length; k++) {
            if ((b[k] & 0xC0) != 0x80) {
                return -1;
            }
        }
        return i + length;
    }
}
