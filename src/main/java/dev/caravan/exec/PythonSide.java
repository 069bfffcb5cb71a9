package dev.caravan.exec;

import java.nio.file.Path;

/**
 * The Python that runs shards.
 *
 * @param executable the interpreter
 * @param runner folder that holds the package {@code caravan_runner}
 */
public record PythonSide(Path executable, Path runner) {}
