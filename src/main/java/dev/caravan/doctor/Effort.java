package dev.caravan.doctor;

import java.time.Duration;

/**
 * How thoroughly a mount is measured.
 *
 * @param helpers processes on each node
 * @param names that they race for
 * @param readFor how long at least a file is replaced that readers look at
 * @param rounds of each kind of delay
 * @param patience for a change to be seen by another process
 * @param limit for other nodes to come, and to reach each step
 */
public record Effort(int helpers, int names, Duration readFor, int rounds, Duration patience, Duration limit) {
    public static final Effort USUAL =
            new Effort(3, 300, Duration.ofMillis(1500), 5, Duration.ofSeconds(90), Duration.ofMinutes(5));

    public Effort {
        if (helpers < 3) {
            throw new IllegalArgumentException("a writer and two readers are needed");
        }
    }
}
