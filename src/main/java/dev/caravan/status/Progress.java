package dev.caravan.status;

import java.io.PrintStream;
import java.time.Duration;
import java.util.Locale;
import java.util.function.LongSupplier;

/** Shows how far a job is: a bar that redraws itself on a terminal, else a line whenever something changed. */
public final class Progress {
    private static final int WIDTH = 30;

    private final PrintStream out;
    private final boolean terminal;
    private final LongSupplier nanoClock;
    private final long began;
    private long rowsAtStart = -1;
    private String last = "";

    public Progress(PrintStream out, boolean terminal, LongSupplier nanoClock) {
        this.out = out;
        this.terminal = terminal;
        this.nanoClock = nanoClock;
        this.began = nanoClock.getAsLong();
    }

    public void show(JobStatus status) {
        if (rowsAtStart < 0) {
            rowsAtStart = status.rows().done();
        }
        String what = counts(status);
        if (terminal) {
            out.print("\r\u001b[K" + bar(status) + " " + what + pace(status));
            out.flush();
        } else if (!what.equals(last)) {
            out.println(what + pace(status));
        }
        last = what;
    }

    /** Leaves the bar standing and goes to a new line. */
    public void end() {
        if (terminal && !last.isEmpty()) {
            out.println();
        }
    }

    private static String counts(JobStatus status) {
        if (status.state() == JobStatus.State.PREPARING) {
            return status.job() + ": preparing";
        }
        return String.format(
                Locale.ROOT,
                "%s: %s, %d/%d shards, %d/%d rows, %d running%s",
                status.job(),
                status.state(),
                status.shards().done(),
                status.shards().total(),
                status.rows().done(),
                status.rows().total(),
                status.shards().running(),
                status.shards().failed() == 0 ? "" : ", " + status.shards().failed() + " failed");
    }

    private String pace(JobStatus status) {
        double seconds = (nanoClock.getAsLong() - began) / 1e9;
        long rows = status.rows().done() - rowsAtStart;
        if (rows <= 0 || seconds <= 0 || status.state().ended()) {
            return "";
        }
        double rate = rows / seconds;
        long left = Math.round((status.rows().total() - status.rows().done()) / rate);
        return String.format(Locale.ROOT, ", %.1f rows/s, ETA %s", rate, clock(Duration.ofSeconds(left)));
    }

    private static String clock(Duration left) {
        return String.format(Locale.ROOT, "%d:%02d:%02d", left.toHours(), left.toMinutesPart(), left.toSecondsPart());
    }

    private static String bar(JobStatus status) {
        int filled = status.shards().total() == 0
                ? 0
                : (int) ((long) WIDTH * status.shards().done() / status.shards().total());
        return "[" + "#".repeat(filled) + "-".repeat(WIDTH - filled) + "]";
    }
}
