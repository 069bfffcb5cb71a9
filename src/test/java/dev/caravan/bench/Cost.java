package dev.caravan.bench;

import java.util.Locale;

/**
 * What a command took, in seconds. On a machine that does other work too, processor time says more than the clock.
 *
 * @param cpu of all processors together
 */
record Cost(double wall, double cpu) {
    Cost least(Cost other) {
        return new Cost(Math.min(wall, other.wall), Math.min(cpu, other.cpu));
    }

    @Override
    public String toString() {
        return String.format(Locale.ROOT, "%.2f s (%.2f s)", wall, cpu);
    }

    /** How many times this is the other. */
    String times(Cost other) {
        return String.format(Locale.ROOT, "%.1f (%.1f)", wall / other.wall, cpu / other.cpu);
    }
}
