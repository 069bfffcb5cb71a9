package dev.caravan.jsonl;

import java.util.List;

/** One change of a record: the bytes from {@code from} to {@code to} in its buffer give way to {@code with}. */
public record Splice(int from, int to, byte[] with) {

    public static Splice insert(int at, byte[] added) {
        return new Splice(at, at, added);
    }

    /** The record with its changes, every other byte as it was. The changes must be in order and apart. */
    public static byte[] apply(Line record, List<Splice> changes) {
        int length = record.length();
        for (Splice change : changes) {
            length = Math.addExact(length, change.with.length - (change.to - change.from));
        }
        byte[] changed = new byte[length];
        int read = record.from();
        int written = 0;
        for (Splice change : changes) {
            if (change.from < read || change.to < change.from || change.to > record.to()) {
                throw new IllegalArgumentException("changes overlap, go backwards or leave the record at " + change);
            }
            int kept = change.from - read;
            System.arraycopy(record.buffer(), read, changed, written, kept);
            System.arraycopy(change.with, 0, changed, written + kept, change.with.length);
            written += kept + change.with.length;
            read = change.to;
        }
        System.arraycopy(record.buffer(), read, changed, written, record.to() - read);
        return changed;
    }
}
