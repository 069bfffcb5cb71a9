package dev.caravan.jsonl;

/** Says what a line is that does not even start as a record: the cases in which the whole file is of another kind. */
final class NotARecord {
    private NotARecord() {}

    /** @param start first byte that is not a blank */
    static String reason(byte[] b, int start, int to) {
        boolean alone = start + 1 == to || isBlank(b, start + 1, to);
        byte c = b[start];
        if (alone && (c == '{' || c == '[')) {
            return "not one record per line: the line holds only '" + (char) c
                    + "', so the file looks pretty-printed; write each record on one line";
        }
        if (startsWith(b, start, to, 0x1F, 0x8B) || startsWith(b, start, to, 0x28, 0xB5, 0x2F, 0xFD)) {
            return "compressed data under the name of a text file; name it .jsonl.gz or .jsonl.zst as what it is, or"
                    + " unpack it first";
        }
        if (startsWith(b, start, to, 0xFF, 0xFE) || startsWith(b, start, to, 0xFE, 0xFF)) {
            return "not UTF-8: the file looks like UTF-16; convert it to UTF-8";
        }
        if (startsWith(b, start, to, 0xEF, 0xBB, 0xBF)) {
            return "a byte order mark (EF BB BF) that is not at the start of the file; remove it";
        }
        if (c < 0 && Utf8.skip(b, start, to) < 0) {
            return notUtf8(b[start]);
        }
        String kind = kind(c);
        return kind.isEmpty()
                ? "broken JSON: each line must be one JSON object, which starts with '{'"
                : "not an object but " + kind + "; each line must be one JSON object";
    }

    static String notUtf8(byte found) {
        return "not UTF-8 (byte 0x%02x)".formatted(found & 0xFF);
    }

    private static String kind(byte c) {
        return switch (c) {
            case '[' -> "an array";
            case '"' -> "a string";
            case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9' -> "a number";
            case 't', 'f' -> "true or false";
            case 'n' -> "null";
            case 0 -> "NUL bytes";
            default -> "";
        };
    }

    private static boolean isBlank(byte[] b, int from, int to) {
        return new Line(b, from, to, 0, 0, false).isBlank();
    }

    private static boolean startsWith(byte[] b, int from, int to, int... prefix) {
        if (to - from < prefix.length) {
            return false;
        }
        for (int k = 0; k < prefix.length; k++) {
            if ((b[from + k] & 0xFF) != prefix[k]) {
                return false;
            }
        }
        return true;
    }
}
