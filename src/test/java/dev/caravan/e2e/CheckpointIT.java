package dev.caravan.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.caravan.shard.Claim;
import dev.caravan.shard.Manifest;
import dev.caravan.shard.ShardForm;
import dev.caravan.store.JobFiles;
import dev.caravan.store.Json;
import dev.caravan.store.Layout;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** {@code samples/checkpoint} on two nodes, one of which dies in the middle of a shard. */
@Timeout(value = 20, unit = TimeUnit.MINUTES)
class CheckpointIT {
    private static final Path SAMPLE = Path.of("samples", "checkpoint").toAbsolutePath();
    private static final Path PROBES =
            Path.of("src/test/python/operators/probe_mappers.py").toAbsolutePath();

    @RegisterExtension
    final Fleet fleet = new Fleet()
            .with("python.executable", RealPython.info().executable())
            .with("exec.commit_every", "1ms")
            .withShortLeases();

    /** The sample's recipe with a journal, and with an operator that hangs at one record the first time. */
    private void sample(String recipe, String job) throws IOException {
        for (String name : List.of("data.jsonl", "operators.py")) {
            Files.copy(SAMPLE.resolve(name), fleet.folder().resolve(name));
        }
        Sample.write(fleet.folder().resolve("recipe.yaml"), recipe);
        Sample.write(fleet.folder().resolve("job.yaml"), job);
    }

    @Test
    void a_node_that_takes_a_shard_over_processes_no_record_that_was_committed() throws IOException {
        Path journal = fleet.folder().resolve("journal");
        String recipe = Files.readString(SAMPLE.resolve("recipe.yaml"))
                .replace("0.05", "0")
                .replace("journal: null", "journal: " + journal)
                .replace("[operators.py]", "[operators.py, '" + PROBES + "']")
                .replace(
                        "  - text_length_filter",
                        "  - stumbling_mapper: {folder: '" + fleet.folder() + "', fails_on: none, hangs_on: doc-0350}\n"
                                + "  - text_length_filter");
        sample(
                recipe,
                Files.readString(SAMPLE.resolve("job.yaml")).replace("num_shards: 2", "num_shards: 1")
                        + "shards: ranges\n");
        Layout.Job job = new Layout.Job(fleet.folder().resolve("shared"));
        List<CaravanProcess> nodes = Stream.of(1, 2)
                .map(node -> fleet.start("run", "job.yaml", "--job-dir", "shared", "--run-id", "one", "--json"))
                .toList();
        Await.until(
                "a node has come to the record that hangs",
                () -> Files.exists(fleet.folder().resolve("hung")));
        Manifest.Shard shard = new JobFiles(job).manifest().shards().get(0);
        assertThat(new JobFiles(job).manifest().shardForm()).isEqualTo(ShardForm.RANGES);
        Await.until("all before it is committed", () -> units(job.checkpoints(shard.id())) == 10);
        Claim hanging = Sample.claim(job, shard.id().toString(), 1).orElseThrow();

        nodes.stream().filter(node -> node.pid() == hanging.pid()).forEach(CaravanProcess::kill);
        CaravanProcess other = nodes.stream()
                .filter(node -> node.pid() != hanging.pid())
                .findFirst()
                .orElseThrow();
        JsonNode merged = other.endsWith(0).json();

        JsonNode told = Json.tree(Files.readAllBytes(job.path()
                .resolve(new JobFiles(job).done(shard.id()).orElseThrow().outputPath())
                .resolveSibling("outcome.json")));
        assertThat(told.at("/checkpoint/restored_rows").asInt()).isEqualTo(320);
        List<String> asked = Files.readAllLines(journal);
        for (int i = 1; i <= 400; i++) {
            assertThat(Collections.frequency(asked, "doc-%04d".formatted(i)))
                    .as("how often record %d was processed", i)
                    .isEqualTo(i > 320 && i <= 352 ? 2 : 1);
        }

        fleet.run("verify", "--job-dir", "shared").endsWith(0);
        JsonNode alone = fleet.run("run", "job.yaml", "--job-dir", "alone", "--run-id", "two", "--json")
                .endsWith(0)
                .json();
        assertThat(merged.at("/sha256")).isEqualTo(alone.at("/sha256"));
        assertThat(merged.at("/ledger")).isEqualTo(alone.at("/ledger"));
        assertThat(merged.at("/operators")).isEqualTo(alone.at("/operators"));
    }

    @Test
    void a_job_goes_on_with_the_checkpoint_of_an_earlier_one_unless_the_work_is_other() throws IOException {
        Path journal = fleet.folder().resolve("journal");
        String recipe = Files.readString(SAMPLE.resolve("recipe.yaml"))
                .replace("0.05", "0")
                .replace("journal: null", "journal: " + journal);
        String job = Files.readString(SAMPLE.resolve("job.yaml"))
                .replace("  # path: /mnt/shared/checkpoints/2026-10", "  path: kept");
        sample(recipe, job);
        String first = fleet.run("run", "job.yaml", "--job-dir", "first", "--run-id", "1", "--json")
                .endsWith(0)
                .json()
                .at("/sha256")
                .asText();
        assertThat(Files.readAllLines(journal)).hasSize(400);

        Sample.write(fleet.folder().resolve("recipe.yaml"), recipe.replace("min_len: 40", "min_len: 41"));
        assertThat(fleet.run("run", "job.yaml", "--job-dir", "third", "--run-id", "3")
                        .endsWith(2)
                        .stderr())
                .contains("was made by other work: process[2].text_length_filter.min_len was 40, is 41.");

        Sample.write(
                fleet.folder().resolve("recipe.yaml"),
                recipe.replace("min_len: 40", "min_len: 40\n  - text_chunk_mapper:"));
        assertThat(fleet.run("run", "job.yaml", "--job-dir", "fourth", "--run-id", "4")
                        .endsWith(2)
                        .stderr())
                .contains("cannot have a checkpoint", "process[3].text_chunk_mapper: makes several records of one");

        Sample.write(fleet.folder().resolve("recipe.yaml"), recipe + "np: 2\n");
        Sample.write(
                fleet.folder().resolve("job.yaml"),
                job.replace("  # delete_on_success: true", "  delete_on_success: true"));
        String second = fleet.run("run", "job.yaml", "--job-dir", "second", "--run-id", "2", "--json")
                .endsWith(0)
                .json()
                .at("/sha256")
                .asText();
        assertThat(second).isEqualTo(first);
        assertThat(Files.readAllLines(journal))
                .as("nothing was processed again")
                .hasSize(400);
        assertThat(fleet.folder().resolve("kept"))
                .as("removed once it is merged")
                .doesNotExist();
    }

    private static long units(Path folder) throws IOException {
        long units = 0;
        try (Stream<Path> logs = Files.isDirectory(folder) ? Files.list(folder) : Stream.empty()) {
            for (Path log : logs.toList()) {
                units += Files.readAllLines(log).stream()
                        .filter(line -> line.contains("\"input_bytes\":"))
                        .count();
            }
        }
        return units;
    }
}
