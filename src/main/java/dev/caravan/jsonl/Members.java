package dev.caravan.jsonl;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * Where a record holds the values of some keys. Only members of the record itself count, not those of objects inside
 * it; a key is compared after its escapes are resolved; of equal keys the last stands, as for parsers. The record must
 * have passed {@link RecordCheck}.
 */
public final class Members {
    /** A value's bytes: from {@code from} up to, not including, {@code to} in the record's buffer. */
    public record Span(int from, int to) {}

    private final Span[] values;
    private final int behindLast;
    private final boolean empty;

    private Members(Span[] values, int behindLast, boolean empty) {
        this.values = values;
        this.behindLast = behindLast;
        this.empty = empty;
    }

    /** The keys to look for, made once for many records. */
    public static final class Keys {
        private final List<String> names;
        private final byte[][] bytes;

        public Keys(List<String> names) {
            this.names = List.copyOf(names);
            this.bytes = names.stream()
                    .map(name -> name.getBytes(StandardCharsets.UTF_8))
                    .toArray(byte[][]::new);
        }

        private int indexOf(byte[] b, int from, int to) {
            for (int i = from; i < to; i++) {
                if (b[i] == '\\') {
                    return names.indexOf(JsonText.unescaped(b, from, to));
                }
            }
            for (int k = 0; k < bytes.length; k++) {
                if (Arrays.equals(b, from, to, bytes[k], 0, bytes[k].length)) {
                    return k;
                }
            }
            return -1;
        }
    }

    public static Members find(Line record, Keys keys) {
        byte[] b = record.buffer();
        int to = record.to();
        Span[] values = new Span[keys.names.size()];
        int i = skipSpace(b, skipSpace(b, record.from()) + 1);
        boolean empty = b[i] == '}';
        int behindLast = i;
        while (b[i] != '}') {
            int keyEnd = Strings.skipValid(b, i, to);
            int key = keys.indexOf(b, i + 1, keyEnd - 1);
            int value = skipSpace(b, skipSpace(b, keyEnd) + 1);
            behindLast = skipValue(b, value, to);
            if (key >= 0) {
                values[key] = new Span(value, behindLast);
            }
            i = skipSpace(b, behindLast);
            i = b[i] == ',' ? skipSpace(b, i + 1) : i;
        }
        return new Members(values, behindLast, empty);
    }

    /** @param key index in the list the {@link Keys} were made of */
    public Optional<Span> value(int key) {
        return Optional.ofNullable(values[key]);
    }

    /** The change that adds members with one value behind the last one. The keys must be absent. */
    public Splice append(List<String> keys, String value) {
        StringBuilder members = new StringBuilder();
        for (String key : keys) {
            members.append(empty && members.isEmpty() ? "" : ",");
            members.append('"').append(JsonText.escaped(key)).append("\":").append(value);
        }
        return Splice.insert(behindLast, members.toString().getBytes(StandardCharsets.UTF_8));
    }

    static int skipSpace(byte[] b, int i) {
        while (b[i] == ' ' || b[i] == '\t' || b[i] == '\r') {
            i++;
        }
        return i;
    }

    /** The index behind the value that starts at {@code i}. */
    static int skipValue(byte[] b, int i, int to) {
        int depth = 0;
        do {
            switch (b[i]) {
                case '"' -> i = Strings.skipValid(b, i, to);
                case '{', '[' -> {
                    depth++;
                    i++;
                }
                case '}', ']' -> {
                    depth--;
                    i++;
                }
                case ' ', '\t', '\r', ',', ':' -> i++;
                default -> i = skipWord(b, i, to);
            }
        } while (depth > 0);
        return i;
    }

    private static int skipWord(byte[] b, int i, int to) {
        while (i < to && b[i] > ' ' && b[i] != ',' && b[i] != '}' && b[i] != ']') {
            i++;
        }
        return i;
    }
}
