package dev.caravan.intake;

import java.util.function.BooleanSupplier;

/** Counts what is read, tells how far it is, and stops the work once this node has lost the right to do it. */
final class ReadWatch {
    /** So often that even a slow mount asks several times within a lease. */
    private static final long EVERY = 4L << 20;
    /** A small compressed file may hold text for minutes. */
    private static final long TEXT_EVERY = 64L << 20;

    private final BooleanSupplier stillOwner;
    private final Progress progress;
    private long total;
    private long done;
    private long nextCheck;
    private long textSinceCheck;

    ReadWatch(BooleanSupplier stillOwner, Progress progress) {
        this.stillOwner = stillOwner;
        this.progress = progress;
    }

    void expect(long bytes) {
        total += bytes;
    }

    /** What was expected and not read is not read any more. */
    void giveUp() {
        total = done;
    }

    void advance(int bytes) {
        done += bytes;
        if (done >= nextCheck) {
            check();
        }
    }

    /** Text out of what was read. */
    void advanceText(int bytes) {
        textSinceCheck += bytes;
        if (textSinceCheck >= TEXT_EVERY) {
            check();
        }
    }

    /** @throws PrepareAbortedException if this node is not the one to prepare any more */
    void check() {
        nextCheck = done + EVERY;
        textSinceCheck = 0;
        if (!stillOwner.getAsBoolean()) {
            throw new PrepareAbortedException("prepare stopped after reading " + done
                    + " bytes: this node no longer holds the prepare role (its lease was lost or the job was aborted);"
                    + " the node that holds it now prepares the job");
        }
        progress.at(done, total);
    }
}
