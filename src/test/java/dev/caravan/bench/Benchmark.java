package dev.caravan.bench;

import java.io.IOException;

/** One piece of work that is done in several ways. Each way must end with the same result, or the benchmark fails. */
interface Benchmark {
    /** @param bench where to work, how much, and how to run and time commands */
    Table run(Bench bench) throws IOException;
}
