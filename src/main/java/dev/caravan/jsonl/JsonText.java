package dev.caravan.jsonl;

import java.nio.charset.StandardCharsets;

/** Text in and out of JSON strings. */
public final class JsonText {
    private JsonText() {}

    /** The text between the quotes of a valid JSON string; an unpaired surrogate escape stays an unpaired char. */
    public static String unescaped(byte[] b, int from, int to) {
        String raw = new String(b, from, to - from, StandardCharsets.UTF_8);
        if (raw.indexOf('\\') < 0) {
            return raw;
        }
        StringBuilder text = new StringBuilder(raw.length());
        for (int i = 0; i < raw.length(); i++) {
            char c = raw.charAt(i);
            if (c != '\\') {
                text.append(c);
                continue;
            }
            char letter = raw.charAt(++i);
            switch (letter) {
                case 'b' -> text.append('\b');
                case 'f' -> text.append('\f');
                case 'n' -> text.append('\n');
                case 'r' -> text.append('\r');
                case 't' -> text.append('\t');
                case 'u' -> {
                    text.append((char) Integer.parseInt(raw, i + 1, i + 5, 16));
                    i += 4;
                }
                default -> text.append(letter);
            }
        }
        return text.toString();
    }

    /** The text as it stands between the quotes of a JSON string; it must not hold unpaired surrogates. */
    public static String escaped(String text) {
        StringBuilder json = new StringBuilder(text.length() + 16);
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '"' || c == '\\') {
                json.append('\\').append(c);
            } else if (c < ' ') {
                json.append("\\u%04x".formatted((int) c));
            } else {
                json.append(c);
            }
        }
        return json.toString();
    }
}
