package dev.caravan.jsonl;

import java.nio.charset.StandardCharsets;
import java.util.Random;

/** Random JSON text of every shape that RFC 8259 allows, and random damage to it. */
final class RandomJson {
    private static final String[] TEXT = {
        "a",
        "z",
        " ",
        "0",
        "é",
        "中",
        "\uD83D\uDE00",
        "\u2028",
        "\u0085",
        "\u007f",
        "\\n",
        "\\\"",
        "\\\\",
        "\\/",
        "\\u0041",
        "\\ud835",
        "\\uDC00",
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "NaN",
        "long plain text without anything special in it"
    };
    private static final String[] SCALARS = {
        "0", "-0", "12", "-3.25", "1e9", "2E-7", "0.0e+00", "18446744073709551616", "true", "false", "null"
    };
    private static final String[] SPACE = {"", "", "", "", " ", "\t", "\r", "  "};

    private final Random random;

    RandomJson(Random random) {
        this.random = random;
    }

    String object(int depth) {
        StringBuilder out = new StringBuilder("{").append(space());
        int members = random.nextInt(5);
        for (int k = 0; k < members; k++) {
            out.append(k == 0 ? "" : "," + space())
                    .append(string())
                    .append(space())
                    .append(':');
            out.append(space()).append(value(depth - 1)).append(space());
        }
        return out.append('}').toString();
    }

    String value(int depth) {
        return switch (random.nextInt(depth > 0 ? 5 : 3)) {
            case 0, 1 -> pick(SCALARS);
            case 2 -> string();
            case 3 -> array(depth);
            default -> object(depth);
        };
    }

    String string() {
        StringBuilder out = new StringBuilder("\"");
        int parts = random.nextInt(random.nextInt(10) == 0 ? 40 : 4);
        for (int k = 0; k < parts; k++) {
            out.append(pick(TEXT));
        }
        return out.append('"').toString();
    }

    private String array(int depth) {
        StringBuilder out = new StringBuilder("[").append(space());
        int elements = random.nextInt(4);
        for (int k = 0; k < elements; k++) {
            out.append(k == 0 ? "" : ",")
                    .append(space())
                    .append(value(depth - 1))
                    .append(space());
        }
        return out.append(']').toString();
    }

    /** One to three bytes removed, doubled, exchanged or replaced; never a line feed. */
    byte[] damaged(String json) {
        byte[] b = json.getBytes(StandardCharsets.UTF_8);
        for (int k = 1 + random.nextInt(3); k > 0 && b.length > 1; k--) {
            int at = random.nextInt(b.length);
            b = switch (random.nextInt(4)) {
                case 0 -> splice(b, at, at + 1, new byte[0]);
                case 1 -> splice(b, at, at, new byte[] {b[random.nextInt(b.length)]});
                case 2 ->
                    splice(b, at, at + 1, new byte[] {(byte) "\"\\{}[]:,0-.eE+tnu \t".charAt(random.nextInt(19))});
                default -> splice(b, at, at + 1, new byte[] {anyButLineFeed()});
            };
        }
        return b;
    }

    private byte anyButLineFeed() {
        byte any = (byte) random.nextInt(256);
        return any == '\n' ? 0 : any;
    }

    private static byte[] splice(byte[] b, int from, int to, byte[] with) {
        byte[] out = new byte[b.length - (to - from) + with.length];
        System.arraycopy(b, 0, out, 0, from);
        System.arraycopy(with, 0, out, from, with.length);
        System.arraycopy(b, to, out, from + with.length, b.length - to);
        return out;
    }

    String space() {
        return pick(SPACE);
    }

    private String pick(String[] from) {
        return from[random.nextInt(from.length)];
    }
}
