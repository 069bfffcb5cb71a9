package dev.caravan.bench;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;

/** Bytes a second of the loops that go over every byte, by JMH, against SHA-256 of the same bytes. */
final class InnerBenchmark implements Benchmark {
    private static final String LIMIT = "sha256";

    @Override
    public Table run(Bench bench) {
        int milliseconds = Integer.getInteger("bench.milliseconds", 100);
        System.setProperty("jmh.ignoreLock", "true"); // others on this machine may measure too
        Collection<RunResult> results;
        try {
            results = new Runner(new OptionsBuilder()
                            .include(InnerLoops.class.getName() + ".*")
                            .forks(Integer.getInteger("bench.forks", 0))
                            .warmupIterations(2)
                            .warmupTime(TimeValue.milliseconds(milliseconds))
                            .measurementIterations(3)
                            .measurementTime(TimeValue.milliseconds(milliseconds))
                            .shouldFailOnError(true)
                            .verbosity(VerboseMode.SILENT)
                            .build())
                    .run();
        } catch (RunnerException e) {
            throw new IllegalStateException(e);
        }
        double limit = results.stream()
                .filter(result -> name(result).equals(LIMIT))
                .mapToDouble(InnerBenchmark::perSecond)
                .findFirst()
                .orElseThrow();
        List<List<String>> rows = new ArrayList<>();
        for (RunResult result : results) {
            rows.add(List.of(
                    name(result),
                    String.format(Locale.ROOT, "%.0f", perSecond(result) * InnerLoops.MEGABYTES),
                    String.format(Locale.ROOT, "%.2f", perSecond(result) / limit)));
        }
        return new Table(List.of("loop", "MB a second", "times the speed of SHA-256"), rows);
    }

    private static String name(RunResult result) {
        return result.getPrimaryResult().getLabel();
    }

    private static double perSecond(RunResult result) {
        return result.getPrimaryResult().getScore();
    }
}
