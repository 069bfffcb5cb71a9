package dev.caravan.intake;

import dev.caravan.jsonl.Block;
import dev.caravan.jsonl.Line;
import dev.caravan.jsonl.RecordCheck;
import java.nio.file.Path;

/** Looks at many lines at once: whether each is a record that may stay as it is. Not thread-safe. */
final class LineCheck {
    private final Path file;
    private final Normalizer normalizer;
    private final RepeatedKeyCount repeatedKeys;
    private final RecordCheck check = new RecordCheck();

    LineCheck(Path file, Normalizer normalizer, RepeatedKeyCount repeatedKeys) {
        this.file = file;
        this.normalizer = normalizer;
        this.repeatedKeys = repeatedKeys;
    }

    /**
     * @return how many records there are
     * @throws MustCopy at the first line that may not stay
     */
    long rows(Block block, int from, int to) {
        byte[] b = block.buffer();
        long rows = 0;
        int line = from;
        while (line < to) {
            int end = check.skip(b, line, to);
            if (end < 0) {
                throw found(block, line, b[line] == '\n' ? "a blank line" : "a line that is not a record");
            }
            while (end < to && (b[end] == ' ' || b[end] == '\t')) {
                end++;
            }
            if (end < to && b[end] != '\n') {
                throw found(block, line, b[end] == '\r' ? "CR before LF" : "a line that is not a record");
            }
            if (!(normalizer.rewrite(new Line(b, line, end, 0, 0, true), 0) instanceof Rewrite.Same)) {
                throw found(block, line, "a record that must change, for its media paths or its index, or has no id");
            }
            if (check.repeatsKey()) {
                repeatedKeys.add(block.offset() + line);
            }
            rows++;
            line = end + 1;
        }
        return rows;
    }

    private MustCopy found(Block block, int at, String what) {
        return new MustCopy(file + " holds " + what + " at byte " + (block.offset() + at));
    }
}
