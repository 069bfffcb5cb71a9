package dev.caravan.intake;

import dev.caravan.jsonl.Flaw;
import dev.caravan.jsonl.JsonText;
import dev.caravan.jsonl.Line;
import dev.caravan.jsonl.Members.Span;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The key whose value, text or a whole number, tells each record from all others. The text 1 and the number 1 differ.
 *
 * @param seen where ids are kept to find those that repeat; null if only their form matters
 */
record IdColumn(String name, @Nullable RecordIds seen) {
    private static final int SHOWN = 60;

    void begin(Path file) {
        if (seen != null) {
            seen.begin(file);
        }
    }

    /** @param otherwise the id of a record that has none; null if it must have one */
    Optional<Flaw> take(Line record, Optional<Span> value, @Nullable String otherwise) {
        if (value.isEmpty() && otherwise == null) {
            return Optional.of(new Flaw(record.length(), "id column '" + name + "' is missing"));
        }
        String id = value.map(span -> id(record.buffer(), span)).orElse(otherwise);
        if (id == null) {
            Span span = value.orElseThrow();
            int length = Math.min(SHOWN, span.to() - span.from());
            return Optional.of(new Flaw(
                    span.from() - record.from(),
                    "id column '" + name + "' must hold text or a whole number, found "
                            + new String(record.buffer(), span.from(), length, StandardCharsets.UTF_8)));
        }
        if (seen != null) {
            seen.add(id.getBytes(StandardCharsets.UTF_8), record.number());
        }
        return Optional.empty();
    }

    /** Null if the value is no id; a text begins with a quote. */
    private static @Nullable String id(byte[] b, Span value) {
        if (b[value.from()] == '"') {
            return '"' + JsonText.unescaped(b, value.from() + 1, value.to() - 1);
        }
        for (int i = value.from() + (b[value.from()] == '-' ? 1 : 0); i < value.to(); i++) {
            if (b[i] < '0' || b[i] > '9') {
                return null;
            }
        }
        String number = new String(b, value.from(), value.to() - value.from(), StandardCharsets.UTF_8);
        return number.equals("-0") ? "0" : number;
    }
}
