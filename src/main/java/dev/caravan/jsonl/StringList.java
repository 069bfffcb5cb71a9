package dev.caravan.jsonl;

import dev.caravan.jsonl.Members.Span;
import java.util.ArrayList;
import java.util.List;

/** Reads a value that must be a list of strings or null, as places in the record's bytes. */
public sealed interface StringList {
    /** @param items the strings, each without its quotes; none for null */
    record Items(List<Span> items) implements StringList {}

    /** @param at first byte in the buffer that is something else, such as the number in a list of strings */
    record SomethingElse(int at) implements StringList {}

    static StringList read(Line record, Span value) {
        byte[] b = record.buffer();
        int i = value.from();
        if (b[i] == 'n') {
            return new Items(List.of());
        }
        if (b[i] != '[') {
            return new SomethingElse(i);
        }
        List<Span> items = new ArrayList<>();
        i = Members.skipSpace(b, i + 1);
        while (b[i] != ']') {
            if (b[i] != '"') {
                return new SomethingElse(i);
            }
            int behind = Strings.skipValid(b, i, value.to());
            items.add(new Span(i + 1, behind - 1));
            i = Members.skipSpace(b, behind);
            i = b[i] == ',' ? Members.skipSpace(b, i + 1) : i;
        }
        return new Items(items);
    }
}
