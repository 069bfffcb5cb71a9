package dev.caravan.sim;

import java.nio.file.Path;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** What happened, a line for each event, for people; costs nothing if nobody reads it. */
final class Trace {
    private final @Nullable Consumer<String> reader;
    private final LongSupplier clock;

    Trace(@Nullable Consumer<String> reader, LongSupplier clock) {
        this.reader = reader;
        this.clock = clock;
    }

    void line(SimNode node, Op op, Path path) {
        if (reader != null) {
            line(node, op + " " + path.getFileName());
        }
    }

    void line(SimNode node, String what, Op op, Path path) {
        if (reader != null) {
            line(node, op + " " + path.getFileName() + ": " + what);
        }
    }

    void line(@Nullable SimNode node, String what) {
        if (reader != null) {
            reader.accept("%12.6f %-4s %s".formatted(clock.getAsLong() / 1e9, node == null ? "" : node, what));
        }
    }
}
