package dev.caravan.jsonl;

import dev.caravan.CaravanException;
import java.util.List;
import java.util.stream.Collectors;

/** A source holds lines that are not records. */
public final class BadJsonlException extends CaravanException {
    private final String source;
    private final List<BadLine> lines;

    /** @param expected what the source should be, as a half sentence behind its name */
    BadJsonlException(String source, String expected, List<BadLine> lines, boolean complete) {
        super(lines.stream()
                .map(line -> "\n  " + line)
                .collect(Collectors.joining(
                        "",
                        source + " " + expected + (complete ? ":" : " (first " + lines.size() + " shown):"),
                        "\nCorrect or remove these lines and try again.")));
        this.source = source;
        this.lines = List.copyOf(lines);
    }

    public String source() {
        return source;
    }

    /** The first bad lines of the source, at least one. */
    public List<BadLine> lines() {
        return lines;
    }
}
