/**
 * Measures what Caravan does against the algorithm of its peer and against the limit of the machine, in one run, with
 * the packaged program: {@code mvn -Pbench verify -Dbench=prepare,merge,startup}. To add a row, implement {@link
 * dev.caravan.bench.Benchmark} and name it in {@link dev.caravan.bench.BenchIT}. What else may be set, such as {@code
 * -Dbench.claims=1000,100000}, the profile {@code bench} in pom.xml lists with its default.
 */
@NullMarked
package dev.caravan.bench;

import org.jspecify.annotations.NullMarked;
