package dev.caravan.sim;

/** What a client asks of the server of a model directory; faults can strike before and after each. */
enum Op {
    WRITE,
    LINK,
    RENAME,
    REMOVE,
    TOUCH,
    READ,
    STAT,
    LIST;

    boolean needsSpace() {
        return this == WRITE || this == LINK;
    }

    /** Whether its effect lasts, so that the moments around it matter most. */
    boolean changes() {
        return this == LINK || this == RENAME || this == TOUCH;
    }
}
