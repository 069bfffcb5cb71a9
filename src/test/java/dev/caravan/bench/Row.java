package dev.caravan.bench;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A line of the table; each cost is the least of the run's rounds, with processor time in brackets.
 *
 * @param peer the algorithm of the peer; null where it has none
 * @param limit what the same bytes cost at least, or what the row is measured by
 * @param measure what the limit is
 */
record Row(String work, @Nullable Cost peer, Cost ours, Cost limit, String measure) {
    private static final String LINE = "| %s | %s | %s | %s | %s | %s | %s |%n";

    static String table(List<Row> rows) {
        StringBuilder table = new StringBuilder(LINE.formatted(
                "work",
                "peer's algorithm",
                "Caravan",
                "limit",
                "limit is",
                "times faster than peer",
                "times the limit"));
        table.append("| --- | --- | --- | --- | --- | --- | --- |\n");
        for (Row row : rows) {
            table.append(LINE.formatted(
                    row.work,
                    row.peer == null ? "" : row.peer,
                    row.ours,
                    row.limit,
                    row.measure,
                    row.peer == null ? "" : row.peer.times(row.ours),
                    row.ours.times(row.limit)));
        }
        return table.toString();
    }
}
