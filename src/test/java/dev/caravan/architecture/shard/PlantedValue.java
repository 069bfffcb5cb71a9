package dev.caravan.architecture.shard;

import java.nio.file.Path;

/** A violation: a value that knows where it is stored. */
public record PlantedValue(Path file) {}
