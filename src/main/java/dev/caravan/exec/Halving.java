package dev.caravan.exec;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;

/**
 * Finds the records on which the engine fails even if each is alone, where all of them together are known to fail. Ask
 * {@link #next}, run the engine over those records, tell how that ended, and ask again. No I/O.
 */
final class Halving {
    /** So many records fail alone, and none passes: then no record is to blame. */
    static final int HOPELESS = 10;

    /** Records from {@code from} to before {@code to}, counted from 0. */
    record Range(long from, long to) {
        long size() {
            return to - from;
        }
    }

    /**
     * @param first whether its other half follows
     * @param mustFail whether the whole fails and its other half does not
     */
    private record Part(Range range, boolean first, boolean mustFail) {}

    private final long records;
    private final Deque<Part> waiting = new ArrayDeque<>();
    private final List<Long> guilty = new ArrayList<>();
    private boolean anyPassed;
    private boolean gaveUp;

    Halving(long records) {
        this.records = records;
        if (records > 1) {
            split(new Range(0, records));
        } else {
            gaveUp = true;
        }
    }

    /** What to run next; nothing if it is over. */
    Optional<Range> next() {
        return gaveUp || waiting.isEmpty()
                ? Optional.empty()
                : Optional.of(waiting.getFirst().range());
    }

    /** The engine has processed what {@link #next} said. */
    void passed() {
        Part part = waiting.removeFirst();
        anyPassed = true;
        if (part.mustFail()) {
            gaveUp = true; // together they fail, apart they do not
        } else if (part.first()) {
            Part other = waiting.removeFirst();
            if (other.range().size() > 1) {
                split(other.range());
            } else {
                waiting.addFirst(new Part(other.range(), false, true));
            }
        }
    }

    /** The engine has failed on what {@link #next} said. */
    void failed() {
        Part part = waiting.removeFirst();
        if (part.range().size() > 1) {
            split(part.range());
            return;
        }
        guilty.add(part.range().from());
        gaveUp = guilty.size() == records || !anyPassed && guilty.size() >= HOPELESS;
    }

    private void split(Range range) {
        long middle = (range.from() + range.to()) / 2;
        waiting.addFirst(new Part(new Range(middle, range.to()), false, false));
        waiting.addFirst(new Part(new Range(range.from(), middle), true, false));
    }

    /** The records that fail alone, in order; final once nothing is to be run. */
    List<Long> guilty() {
        return List.copyOf(guilty);
    }

    /** Whether the failure cannot be blamed on records one by one. */
    boolean gaveUp() {
        return gaveUp;
    }
}
