package dev.caravan.intake;

import java.util.ArrayList;
import java.util.List;

/** The records of a file that have a key twice in one object, of which most readers keep the last. Thread-safe. */
final class RepeatedKeyCount {
    private final String file;
    private long records;
    private long first = Long.MAX_VALUE;

    /** @param file as messages call it */
    RepeatedKeyCount(String file) {
        this.file = file;
    }

    /** @param offset of the record in the text of the file */
    synchronized void add(long offset) {
        records++;
        first = Math.min(first, offset);
    }

    /** Complete once nobody adds any more. */
    static List<String> warnings(List<RepeatedKeyCount> files) {
        long records = 0;
        List<String> places = new ArrayList<>();
        for (RepeatedKeyCount file : files) {
            if (file.records > 0) {
                records += file.records;
                places.add(file.file + " (" + file.records + ", the first at byte " + file.first + ")");
            }
        }
        return records == 0
                ? List.of()
                : List.of("records with a key twice in one object (" + records
                        + "), which keep their bytes, but of which operators and most programs see the last value alone: "
                        + NameList.of(places));
    }
}
