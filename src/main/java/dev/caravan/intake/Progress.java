package dev.caravan.intake;

/** Hears how far a prepare is. */
@FunctionalInterface
public interface Progress {
    Progress NONE = (done, total) -> {};

    /** @param total bytes to read in all passes together; may turn out a little off when input changes */
    void at(long done, long total);
}
