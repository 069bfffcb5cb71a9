package dev.caravan.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
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
    /** Each of the peer's shards starts a Ray: too much for each run of all tests. */
    private static final String ASKED_FOR_ONLY = "endtoend";

    static {
        ALL.put("prepare", new PrepareBenchmark());
        ALL.put("merge", new MergeBenchmark());
        ALL.put("startup", new StartupBenchmark());
        ALL.put("claims", new ClaimsBenchmark());
        ALL.put("inner", new InnerBenchmark());
        ALL.put("profile", new ProfileBenchmark());
        ALL.put(ASKED_FOR_ONLY, new EndToEndBenchmark());
        ALL.put("tail", new TailBenchmark());
    }

    @Test
    void every_way_does_the_same_work() throws IOException {
        Bench bench = new Bench(
                folder.toRealPath(),
                Integer.getInteger("bench.megabytes", 4),
                Integer.getInteger("bench.shards", 100),
                Integer.getInteger("bench.rounds", 1));
        Map<List<String>, Table> tables = new LinkedHashMap<>();
        for (String name : asked()) {
            assertThat(ALL).as("benchmarks").containsKey(name);
            Table table = ALL.get(name).run(bench);
            assertThat(table.rows()).as(name).isNotEmpty();
            tables.merge(table.header(), table, Table::and);
        }
        tables.values().forEach(System.out::println);
    }

    private static List<String> asked() {
        String names = System.getProperty("bench");
        return names == null
                ? ALL.keySet().stream()
                        .filter(name -> !name.equals(ASKED_FOR_ONLY))
                        .toList()
                : List.of(names.split(","));
    }
}
