package dev.caravan.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** All benchmarks with tiny input, so that they keep running; the profile {@code bench} makes it the real size. */
class BenchIT {
    @TempDir
    Path folder;

    private static final Map<String, Benchmark> ALL = new LinkedHashMap<>();

    static {
        ALL.put("prepare", new PrepareBenchmark());
        ALL.put("merge", new MergeBenchmark());
        ALL.put("startup", new StartupBenchmark());
    }

    @Test
    void every_way_does_the_same_work() throws IOException {
        Bench bench = new Bench(
                folder.toRealPath(),
                Integer.getInteger("bench.megabytes", 4),
                Integer.getInteger("bench.shards", 100),
                Integer.getInteger("bench.rounds", 1));
        List<Row> rows = new ArrayList<>();
        for (String name :
                System.getProperty("bench", String.join(",", ALL.keySet())).split(",")) {
            assertThat(ALL).as("benchmarks").containsKey(name);
            rows.addAll(ALL.get(name).run(bench));
        }
        System.out.println(Row.table(rows));
        assertThat(rows)
                .isNotEmpty()
                .allSatisfy(row -> assertThat(row.ours().wall()).isPositive());
    }
}
