package dev.caravan.sim;

import java.time.Duration;

/**
 * How long a client may be behind the server, at most; the time of each single case is drawn from the seed, and half of
 * the cases are prompt.
 *
 * @param names new and removed names
 * @param content replaced content and file times, also when the file is opened: well below a lease's margin
 * @param absence how long a client goes on seeing nothing where it looked and saw nothing
 * @param listings how long a client shows a listing again
 * @param attributes how long a client remembers a file's time; opening asks anew
 */
record Lateness(long seed, Duration names, Duration content, Duration absence, Duration listings, Duration attributes) {
    static final Lateness NONE =
            new Lateness(0, Duration.ZERO, Duration.ZERO, Duration.ZERO, Duration.ZERO, Duration.ZERO);

    /** @param what tells this case from all others; the same case is always equally late */
    long draw(Duration atMost, long what) {
        long most = atMost.toNanos();
        if (most == 0) {
            return 0;
        }
        long mixed = (seed ^ what * 0x9E3779B97F4A7C15L) * 0xBF58476D1CE4E5B9L;
        mixed = (mixed ^ (mixed >>> 31)) * 0x94D049BB133111EBL;
        mixed ^= mixed >>> 29;
        return (mixed & 1) == 0 ? 0 : (mixed >>> 1) % most;
    }
}
