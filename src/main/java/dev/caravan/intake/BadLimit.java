package dev.caravan.intake;

import dev.caravan.jsonl.BadLine;
import dev.caravan.jsonl.Flaw;
import dev.caravan.jsonl.Line;
import dev.caravan.shard.BadRecords;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Counts bad lines in the first pass and ends it when there are more than the job allows. */
final class BadLimit implements InputPass.BadLines {
    private static final int SHOWN = 5;

    private final BadRecords allowed;
    private final List<String> first = new ArrayList<>();
    private long count;

    BadLimit(BadRecords allowed) {
        this.allowed = allowed;
    }

    @Override
    public void take(Path file, long record, Line line, Flaw flaw) {
        count++;
        if (first.size() < SHOWN) {
            first.add(file + ": " + BadLine.of(line, flaw));
        }
        if (allowed.most() != null && count > allowed.most()) {
            throw tooMany("more than " + allowed.most(), "max_bad_records is " + allowed.most());
        }
    }

    /** @param lines of the whole input, blank ones not counted */
    void checkShare(long lines) {
        Double most = allowed.mostPercent();
        if (most != null && count * 100.0 > most * lines) {
            throw tooMany(
                    String.format(Locale.ROOT, "%d of %d (%.3g %%)", count, lines, count * 100.0 / lines),
                    "max_bad_percent is " + most);
        }
    }

    private IntakeException tooMany(String found, String limit) {
        return new IntakeException(
                "too many lines of the input are not records: found " + found + ", but policy." + limit
                        + "; the first are:\n  " + String.join("\n  ", first)
                        + "\nCorrect or remove these lines, or allow more");
    }
}
