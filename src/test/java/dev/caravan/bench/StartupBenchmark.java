package dev.caravan.bench;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.caravan.store.Json;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** How soon a command says something, against a Java that does nothing. */
final class StartupBenchmark implements Benchmark {
    @Override
    public Table run(Bench bench) throws IOException {
        Path folder = Files.createDirectory(bench.folder().resolve("startup"));
        Path input = Files.writeString(folder.resolve("input.jsonl"), "{\"a\": 1}\n".repeat(bench.shards()));
        Path descriptor = Files.writeString(folder.resolve("job.yaml"), """
                name: bench
                engine: command
                command: [cp, "{input}", "{output}"]
                dataset_path: %s
                num_shards: %d
                """.formatted(input, bench.shards()));
        Path job = folder.resolve("job");
        bench.run(Bench.caravan("prepare", descriptor, "--job-dir", job));
        List<String> status = Bench.installed(folder, "status", "--job-dir", job, "--json");
        JsonNode told = Json.tree(bench.run(status, 1).getBytes(StandardCharsets.UTF_8));
        assertThat(told.at("/shards/total").asInt()).isEqualTo(bench.shards());
        assertThat(told.at("/shards/pending").asInt()).isEqualTo(bench.shards());
        bench.keepClasses(folder);
        Path root = Files.createDirectory(folder.resolve("root"));
        Cost[] cost = bench.best(List.of(
                round -> List.of(Bench.JAVA, "-version"),
                round -> Bench.shell(String.join(" ", status) + "; test $? = 1"),
                round -> Bench.shell(String.join(
                        " ", Bench.installed(folder, "node", "--root", root, "--once", "-Dcaravan.claim.poll=10ms")))));
        return Row.table(
                new Row("status of %d shards".formatted(bench.shards()), null, cost[1], cost[0], "java -version"),
                new Row("node starts, finds nothing and leaves", null, cost[2], cost[0], "java -version"));
    }
}
