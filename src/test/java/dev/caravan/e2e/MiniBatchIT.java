package dev.caravan.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.caravan.shard.Claim;
import dev.caravan.shard.DoneRecord;
import dev.caravan.shard.Manifest;
import dev.caravan.store.Disk;
import dev.caravan.store.JobFiles;
import dev.caravan.store.Layout;
import dev.caravan.store.ShardBytes;
import java.io.IOException;
import java.io.InputStream;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The samples of engine mini-batch on two nodes, one of which is killed while it has a mini-batch. */
@Timeout(value = 15, unit = TimeUnit.MINUTES)
class MiniBatchIT {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Path SAMPLES = Path.of("samples/mini-batch").toAbsolutePath();

    /** Behind the sample's script: notes each mini-batch, and never comes to an end of the one that is to hang. */
    private static final String NOTED = """


            from pathlib import Path as _Path
            import os as _os, threading as _threading
            _run, _here = run, _Path(%r)

            def run(mini_batch):
                first = str(mini_batch[0] if isinstance(mini_batch, list) else mini_batch["id"].iloc[0])
                with open(_here / "runs.txt", "a") as f:
                    f.write(f"{_os.path.basename(first)} {_os.environ['CUDA_VISIBLE_DEVICES']}\\n")
                if _os.path.basename(first) == %r and not (_here / "hung").exists():
                    (_here / "hung").touch()
                    _threading.Event().wait()
                return _run(mini_batch)
            """;

    @RegisterExtension
    final Fleet fleet = new Fleet()
            .with("claim.lease", "10s")
            .with("claim.margin", "2s")
            .withVariable("XDG_CACHE_HOME", RealPython.XDG_CACHE.toString());

    private Layout.Job job() {
        return new Layout.Job(fleet.folder().resolve("job"));
    }

    @Test
    void the_sample_with_files_survives_a_node_and_repeats_no_mini_batch_that_was_done() throws IOException {
        fleet.with("gpus.logical", "1");
        JsonNode merged = onTwoNodes("files", "count_words.py", "text-10.txt", "text-10.txt", "ray: {num_gpus: 1}\n");

        List<String> expected = new ArrayList<>();
        for (String name : Sample.names(SAMPLES.resolve("texts"))) {
            String text = Sample.read(SAMPLES.resolve("texts").resolve(name));
            expected.add(name + ": " + text.strip().split(" ").length);
        }
        assertThat(job().scriptOutput().resolve("parallel_run_step.txt")).hasContent(String.join("\n", expected));
        assertThat(merged.at("/operators").toString())
                .isEqualTo("[{\"name\":\"mini_batch\",\"rows_in\":8,\"rows_out\":8},"
                        + "{\"name\":\"run\",\"rows_in\":16,\"rows_out\":16}]");
        assertThat(runs())
                .as("with the node's GPU")
                .containsOnly(
                        "text-00.txt 0",
                        "text-02.txt 0",
                        "text-04.txt 0",
                        "text-06.txt 0",
                        "text-08.txt 0",
                        "text-10.txt 0",
                        "text-12.txt 0",
                        "text-14.txt 0");
        Manifest.Shard shard = shardWith("text-10.txt");
        long before = units(shard)
                .lines()
                .takeWhile(unit -> !unit.contains("text-10.txt"))
                .count();
        assertThat(before)
                .as("mini-batches of the shard before the one that hung")
                .isPositive();
        DoneRecord done = new JobFiles(job()).done(shard.id()).orElseThrow();
        Path outcome = job().resolve(done.outputPath()).resolveSibling("outcome.json");
        assertThat(JSON.readTree(outcome.toFile()).at("/mini_batches/resumed").asLong())
                .as("mini-batches that were not done again")
                .isGreaterThanOrEqualTo(before);
        for (String node : nodes()) {
            Path logs = job().logs();
            assertThat(logs.resolve("user/entry_script_log").resolve(node).resolve("process000.log.txt"))
                    .content()
                    .contains("INFO ready");
            assertThat(logs.resolve("sys/node").resolve(node).resolve("process000.txt"))
                    .exists();
            assertThat(logs.resolve("job_progress_overview." + node + ".txt")).exists();
        }
        assertThat(job().logs().resolve("job_result.txt")).content().contains("state   done");

        Files.writeString(job().scriptOutput().resolve("parallel_run_step.txt"), "text-00.txt: 0\n");
        assertThat(fleet.run("verify", "--job-dir", "job").endsWith(2).stdout()).contains("appended rows");
    }

    @Test
    void the_sample_with_tables_survives_a_node_and_makes_a_line_of_each_row() throws IOException {
        onTwoNodes("tables", "totals.py", "101", "orders-2.csv", "");

        List<String> expected = new ArrayList<>();
        for (JsonNode row : orders()) {
            expected.add(row.at("/id").asInt() + " "
                    + BigDecimal.valueOf(row.at("/count").asDouble()
                                    * row.at("/price").asDouble())
                            .setScale(2, RoundingMode.HALF_EVEN)
                    + " CHF");
        }
        assertThat(expected).hasSize(160);
        assertThat(job().scriptOutput().resolve("totals.txt")).hasContent(String.join("\n", expected));
        assertThat(job().scriptOutput()).isDirectoryNotContaining("glob:**.part");
    }

    /** The rows of the sample's tables: those of CSV have no quotes but in the second column. */
    private static List<JsonNode> orders() throws IOException {
        List<JsonNode> rows = new ArrayList<>();
        for (String name : Sample.names(SAMPLES.resolve("tables"))) {
            List<String> lines =
                    Sample.read(SAMPLES.resolve("tables").resolve(name)).lines().toList();
            for (String line : name.endsWith(".csv") ? lines.subList(1, lines.size()) : lines) {
                String[] cells = line.replaceAll("\"[^\"]*\"", "").split(",");
                rows.add(JSON.readTree(
                        name.endsWith(".csv")
                                ? "{\"id\":%s,\"count\":%s,\"price\":%s}".formatted(cells[0], cells[2], cells[3])
                                : line));
            }
        }
        return rows;
    }

    /**
     * @param hangs what the mini-batch on which the first node is killed begins with
     * @param file of that mini-batch
     */
    private JsonNode onTwoNodes(String sample, String script, String hangs, String file, String more)
            throws IOException {
        fleet.with("python.executable", RealPython.info().executable());
        Path copy = fleet.folder().resolve("sample");
        try (Stream<Path> files = Files.walk(SAMPLES)) {
            for (Path original : files.filter(Files::isRegularFile).toList()) {
                Sample.write(copy.resolve(SAMPLES.relativize(original).toString()), Sample.read(original));
            }
        }
        String noted = NOTED.replace("%r", "'%s'").formatted(fleet.folder(), hangs);
        Sample.write(copy.resolve(script), Sample.read(copy.resolve(script)) + noted);
        String descriptor = copy.resolve(sample + ".yaml").toString();
        // a shard's mini-batches one after the other, and no time limit that a busy machine could reach
        Sample.write(
                Path.of(descriptor),
                Sample.read(Path.of(descriptor)) + "  process_count_per_node: 1\n  run_invocation_timeout: 3600\n"
                        + more);
        List<CaravanProcess> both = List.of(start(descriptor), start(descriptor));
        Await.until(
                "a node has the mini-batch that hangs",
                () -> Files.exists(fleet.folder().resolve("hung")));
        Claim hanging = claimOf(file);
        both.stream().filter(node -> node.pid() == hanging.pid()).forEach(CaravanProcess::kill);

        CaravanProcess left = both.stream()
                .filter(node -> node.pid() != hanging.pid())
                .findFirst()
                .orElseThrow();
        JsonNode merged = left.endsWith(0).json();
        assertThat(claimOf(file).tookOver()).as("the takeover").isEqualTo(hanging.token());
        fleet.run("verify", "--job-dir", "job").endsWith(0);
        return merged;
    }

    private CaravanProcess start(String descriptor) {
        return fleet.start("run", descriptor, "--job-dir", "job", "--run-id", "one", "--json");
    }

    /** The last one of the shard with the mini-batch. */
    private Claim claimOf(String file) throws IOException {
        String key = shardWith(file).id().toString();
        return Sample.claim(
                        job(), key, new JobFiles(job()).locks().highestEpochs().get(key))
                .orElseThrow();
    }

    private Manifest.Shard shardWith(String file) throws IOException {
        for (Manifest.Shard shard : new JobFiles(job()).manifest().shards()) {
            if (units(shard).contains(file)) {
                return shard;
            }
        }
        throw new AssertionError("no shard has " + file);
    }

    private String units(Manifest.Shard shard) throws IOException {
        try (InputStream in = ShardBytes.open(job(), shard)) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    private List<String> runs() {
        return Sample.read(fleet.folder().resolve("runs.txt")).lines().toList();
    }

    private List<String> nodes() throws IOException {
        return Disk.list(job().logs().resolve("sys").resolve("node"));
    }
}
