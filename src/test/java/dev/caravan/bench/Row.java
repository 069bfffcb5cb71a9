package dev.caravan.bench;

import java.util.Arrays;
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
    private static final List<String> HEADER = List.of(
            "work", "peer's algorithm", "Caravan", "limit", "limit is", "times faster than peer", "times the limit");

    static Table table(Row... rows) {
        return new Table(HEADER, Arrays.stream(rows).map(Row::cells).toList());
    }

    private List<String> cells() {
        return List.of(
                work,
                peer == null ? "" : peer.toString(),
                ours.toString(),
                limit.toString(),
                measure,
                peer == null ? "" : peer.times(ours),
                ours.times(limit));
    }
}
