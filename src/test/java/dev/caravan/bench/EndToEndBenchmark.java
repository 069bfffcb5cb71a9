package dev.caravan.bench;

import static org.assertj.core.api.Assertions.assertThat;

import dev.caravan.python.PythonEnvironment;
import dev.caravan.store.Json;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/**
 * The demo recipe from input to merged file, by two nodes on this machine: Caravan with a warm Ray a node, against the
 * peer's way, where each node starts Data-Juicer and a Ray for each shard. The peer works on some of the shards only,
 * and its time is scaled to all of them.
 */
final class EndToEndBenchmark implements Benchmark {
    private static final Path SAMPLE = Path.of("samples", "quickstart").toAbsolutePath();
    private static final int SAMPLE_ROWS = 1000;
    private static final int SHARDS = 16;
    private static final int NODES = 2;

    @Override
    public Table run(Bench bench) throws IOException {
        Path python = Path.of(PythonEnvironment.of(System.getProperty("bench.python", ""))
                .setup(System.out::println)
                .executable());
        int shards = Integer.getInteger("bench.peer.shards", SHARDS);
        List<List<String>> rows = new ArrayList<>();
        for (int records : Bench.numbers("bench.records", "20000")) {
            Path folder = Files.createDirectory(bench.folder().resolve("endtoend-" + records));
            Path input = folder.resolve("input.jsonl");
            Files.writeString(
                    input, Files.readString(SAMPLE.resolve("data.jsonl")).repeat(records / SAMPLE_ROWS));
            double ours = ours(bench, folder, input, python);
            double peer = peer(bench, folder, input, python, shards);
            List<String> theirs = texts(folder.resolve("peer.jsonl"), Long.MAX_VALUE);
            assertThat(texts(folder.resolve("job").resolve("merged.jsonl"), theirs.size()))
                    .as("texts of the first %d shards", shards)
                    .isEqualTo(theirs);
            rows.add(List.of(
                    "%d records in %d shards, %d nodes".formatted(records, SHARDS, NODES),
                    String.format(Locale.ROOT, "%.0f s, scaled from %d shards", peer, shards),
                    String.format(Locale.ROOT, "%.0f s", ours),
                    String.format(Locale.ROOT, "%.1f", peer / ours),
                    records < 200_000 ? "12" : "4"));
        }
        return new Table(
                List.of("end to end", "a cold Data-Juicer and Ray a shard", "Caravan", "times faster", "goal"), rows);
    }

    private static double ours(Bench bench, Path folder, Path input, Path python) throws IOException {
        Path descriptor = Files.writeString(
                folder.resolve("job.yaml"), """
                name: bench
                engine: data-juicer
                recipe: %s
                dataset_path: %s
                num_shards: %d
                ray: {address: warm, num_cpus: 1}
                """.formatted(SAMPLE.resolve("recipe.yaml"), input, SHARDS));
        bench.keepClasses(folder);
        List<String> node = Bench.installed(
                folder, "run", descriptor, "--job-dir", folder.resolve("job"), "-Dcaravan.python.executable=" + python);
        return bench.best(List.of(round -> onAllNodes(node)))[0].wall();
    }

    private static double peer(Bench bench, Path folder, Path input, Path python, int shards) throws IOException {
        Path cut = folder.resolve("peer-shards");
        Path results = Files.createDirectory(folder.resolve("peer-results"));
        List<String> node = Bench.peer(
                "work",
                cut,
                results,
                SAMPLE.resolve("recipe.yaml"),
                python.resolveSibling("dj-process"),
                shards / NODES);
        Path list = folder.resolve("peer-results.txt");
        double prepare = bench.best(List.of(round -> Bench.peer("prepare", input, cut, SHARDS)))[0].wall();
        double work = bench.best(List.of(round -> onAllNodes(node)))[0].wall();
        bench.run(Bench.shell("cat '" + results + "'/*.result > '" + list + "'"));
        assertThat(list).content().hasLineCount(shards);
        double merge = bench.best(List.of(round -> Bench.peer("merge", list, folder.resolve("peer.jsonl"))))[0].wall();
        return prepare + (work + merge) * SHARDS / shards;
    }

    /** Sorted: the peer does not promise an order within a shard. */
    private static List<String> texts(Path file, long most) throws IOException {
        try (Stream<String> lines = Files.lines(file)) {
            return lines.limit(most).map(EndToEndBenchmark::text).sorted().toList();
        }
    }

    private static String text(String record) {
        try {
            return Json.tree(record.getBytes(StandardCharsets.UTF_8))
                    .at("/text")
                    .asText();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Starts a command once a node and waits for all. */
    private static List<String> onAllNodes(List<String> command) {
        return Bench.shell("for node in $(seq " + NODES + "); do env -u RAY_ADDRESS '" + String.join("' '", command)
                + "' & pids=\"$pids $!\"; done; for pid in $pids; do wait $pid || exit; done");
    }
}
