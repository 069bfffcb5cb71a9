package dev.caravan.intake;

import dev.caravan.shard.Manifest;

/** How a prepare ended well. */
public sealed interface Prepared {
    Manifest manifest();

    /** This call made the job directory. */
    record Made(Manifest manifest) implements Prepared {}

    /** The same request had been prepared before, and its input is still the same. */
    record Unchanged(Manifest manifest) implements Prepared {}
}
