package dev.caravan.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.caravan.shard.Claim;
import dev.caravan.store.Layout;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Engine plan-execute with real nodes and Ray: the sample, watched by a script around it. */
class PlanExecuteIT {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Path SAMPLE = Path.of("samples", "plan-execute", "search.py");
    private static final Pattern COMMITTED = Pattern.compile("\"key\":\"\\\\\"([a-z0-9-]+)\\\\\"\"");

    /** Tells of each execution; items of seed 3 wait for the gate. */
    private static final String WATCHED = """
            import os, time
            import search

            plan = search.plan

            def execute(item):
                with open("executed", "a") as f:
                    f.write(item["id"] + "\\n")
                if item["seed"] == 3:
                    while not os.path.exists("gate"):
                        time.sleep(0.05)
                if item["id"] == os.environ.get("FAILING_ITEM"):
                    raise ValueError("cannot do it")
                return search.execute(item)
            """;

    @RegisterExtension
    final Fleet fleet = new Fleet();

    private void writeTask() throws IOException {
        fleet.with("python.executable", RealPython.info().executable())
                .with("claim.lease", "10s")
                .with("claim.margin", "3s");
        Path code = Files.createDirectories(fleet.folder().resolve("code"));
        Files.copy(SAMPLE, code.resolve("search.py"));
        Sample.write(code.resolve("task.py"), WATCHED);
    }

    /** What the script itself makes of its plan, without Caravan. */
    private String expected(String... arguments) throws IOException {
        String lines = "import json, search\n"
                + "for i in search.plan(): print(json.dumps({'id': i['id'], 'result': search.execute(i)}))";
        List<String> command = new ArrayList<>(List.of(RealPython.info().executable(), "-c", lines));
        command.addAll(Arrays.asList(arguments));
        Process process = new ProcessBuilder(command)
                .directory(fleet.folder().resolve("code").toFile())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }

    private List<String> executed() throws IOException {
        Path file = fleet.folder().resolve("executed");
        return Files.exists(file) ? Files.readAllLines(file) : List.of();
    }

    private static List<String> committed(Path folder) throws IOException {
        List<String> keys = new ArrayList<>();
        try (Stream<Path> logs = Files.exists(folder) ? Files.walk(folder) : Stream.empty()) {
            for (Path log : logs.filter(Files::isRegularFile).toList()) {
                COMMITTED
                        .matcher(Files.readString(log))
                        .results()
                        .map((MatchResult found) -> found.group(1))
                        .forEach(keys::add);
            }
        }
        return keys;
    }

    @Test
    void two_nodes_share_a_plan_and_what_a_killed_one_has_committed_is_not_computed_again() throws IOException {
        writeTask();
        Path descriptor = fleet.folder().resolve("job.yaml");
        Sample.write(descriptor, """
                name: search
                engine: plan-execute
                script: code/task.py
                source_directory: code
                working_directory: .
                arguments: ["--rates", "6", "--steps", "200"]
                num_shards: 4
                plan_execute: {workers: 1, sink: sink}
                """);
        Path root = fleet.folder().resolve("root");
        Layout.Job job = new Layout.Root(root).job("search");
        fleet.with("node.prefetch", "0"); // so that a shard's first claim is that of its first attempt
        fleet.run("submit", descriptor.toString(), "--root", root.toString()).endsWith(0);
        CaravanProcess a = fleet.start("node", "--root", root.toString(), "--once");
        CaravanProcess b = fleet.start("node", "--root", root.toString(), "--once");
        Path checkpoints = job.path().resolve("checkpoints");
        Await.until(
                "a shard has committed items",
                () -> !committed(checkpoints).isEmpty() || !a.isAlive() && !b.isAlive(),
                () -> a + "\n" + b);
        String shard;
        try (Stream<Path> folders = Files.list(checkpoints)) {
            shard = folders.filter(folder -> {
                        try {
                            return !committed(folder).isEmpty();
                        } catch (IOException e) {
                            throw new IllegalStateException(e);
                        }
                    })
                    .findFirst()
                    .orElseThrow()
                    .getFileName()
                    .toString();
        }
        Optional<Claim> claim = Sample.claim(job, shard, 1);
        CaravanProcess victim = claim.orElseThrow().pid() == a.pid() ? a : b;
        CaravanProcess survivor = victim == a ? b : a;

        victim.kill();
        List<String> safe = committed(checkpoints.resolve(shard));
        Sample.write(fleet.folder().resolve("gate"), "");
        survivor.endsWith(0);

        String expected = expected("--rates", "6", "--steps", "200");
        assertThat(job.mergedByDefault()).content().isEqualTo(expected);
        assertThat(fleet.folder().resolve("sink/ready.ndjson")).content().isEqualTo(expected);
        assertThat(fleet.folder().resolve("sink/failures.ndjson")).isEmptyFile();
        Files.delete(fleet.folder().resolve("sink/ready.ndjson"));
        fleet.run("merge", "--job-dir", job.path().toString(), "--overwrite").endsWith(0);
        assertThat(fleet.folder().resolve("sink/ready.ndjson"))
                .as("collected again")
                .content()
                .isEqualTo(expected);
        List<String> executed = executed();
        assertThat(safe)
                .isNotEmpty()
                .allSatisfy(id -> assertThat(Collections.frequency(executed, id))
                        .as("executions of %s, which was committed before the kill", id)
                        .isEqualTo(1));
        assertThat(executed.size())
                .as("24 items, and what the victim had in hand")
                .isBetween(24, 25);
        assertThat(fleet.run("verify", "--job-dir", job.path().toString())
                        .endsWith(0)
                        .stdout())
                .endsWith("PASS\n");
    }

    private CaravanProcess compute(String... more) {
        List<String> command = new ArrayList<>(List.of("compute", "code/task.py", "--source-directory", "code"));
        command.addAll(List.of("-w", "1", "--sink", "sink"));
        command.addAll(Arrays.asList(more));
        command.addAll(List.of("--", "--rates", "2", "--steps", "100"));
        // a shell ignores INT for what it starts in the background, and so would Java
        return fleet.startUnder(List.of("env", "--default-signal=INT"), command.toArray(String[]::new));
    }

    private List<JsonNode> sink(String name) throws IOException {
        List<JsonNode> rows = new ArrayList<>();
        for (String line : Files.readAllLines(fleet.folder().resolve("sink").resolve(name))) {
            rows.add(JSON.readTree(line));
        }
        return rows;
    }

    private static List<String> ids(List<JsonNode> rows) {
        return rows.stream().map(row -> row.at("/id").asText()).toList();
    }

    @Test
    void ctrl_c_keeps_results_and_cancels_the_rest_and_a_resumed_run_computes_what_is_asked_for() throws IOException {
        writeTask();
        CaravanProcess first = compute("--results", "summary");
        Await.until(
                "the fourth item waits, and those before it are committed",
                () -> executed().contains("rate-1-seed-3")
                                && committed(fleet.folder().resolve("sink")).size() == 3
                        || !first.isAlive(),
                first::toString);
        first.signal("INT");
        first.endsWith(130);

        List<String> done = List.of("rate-1-seed-0", "rate-1-seed-1", "rate-1-seed-2");
        assertThat(ids(sink("ready.ndjson"))).isEqualTo(done);
        List<JsonNode> failures = sink("failures.ndjson");
        assertThat(failures).hasSize(5).allSatisfy(row -> {
            assertThat(row.at("/error_kind").asText()).isEqualTo("cancelled");
            assertThat(row.at("/retryable").asBoolean()).isTrue();
        });
        assertThat(first.json()).isEqualTo(JSON.readTree("{\"ok\":3,\"fail\":0,\"cancelled\":5,\"skipped\":0}"));
        assertThat(compute().endsWith(2).stderr()).contains("go on with it by --resume, or name another --sink");

        Sample.write(fleet.folder().resolve("gate"), "");
        fleet.withVariable("FAILING_ITEM", "rate-2-seed-1");
        fleet.withVariable("WORLD_SIZE", "2").withVariable("LOCAL_WORLD_SIZE", "2");
        assertThat(fleet.withVariable("LOCAL_RANK", "1")
                        .run("compute", "code/task.py")
                        .endsWith(0)
                        .stdout())
                .as("of the processes of one host the first one works")
                .isEmpty();
        fleet.withVariable("LOCAL_RANK", "0");
        CaravanProcess second =
                compute("--resume", "--rerun-failed", "cancelled").endsWith(1);

        assertThat(second.stdout().lines()).hasSize(5);
        assertThat(second.stderr()).contains("4 ok, 1 failed, 0 cancelled, 3 skipped");
        assertThat(ids(sink("ready.ndjson"))).hasSize(7).startsWith(done.toArray(String[]::new));
        assertThat(sink("failures.ndjson")).singleElement().satisfies(row -> {
            assertThat(row.at("/id").asText()).isEqualTo("rate-2-seed-1");
            assertThat(row.at("/error_kind").asText()).isEqualTo("execute");
            assertThat(row.at("/error").asText()).isEqualTo("ValueError: cannot do it");
        });
        JsonNode checkpoint = JSON.readTree(Files.readString(fleet.folder().resolve("sink/checkpoint.json")));
        assertThat(List.of(
                        checkpoint.at("/ok").asInt(),
                        checkpoint.at("/fail").asInt(),
                        checkpoint.at("/skipped").asInt()))
                .containsExactly(7, 1, 3);
        JsonNode summary = JSON.readTree(Files.readString(fleet.folder().resolve("sink/summary.json")));
        assertThat(summary.at("/metrics/loss/count").asInt()).isEqualTo(7);
        assertThat(Collections.frequency(executed(), "rate-1-seed-0")).isEqualTo(1);
    }

    @Test
    void a_script_that_cannot_be_run_is_refused_before_anything_is_written() throws IOException {
        writeTask();
        Sample.write(fleet.folder().resolve("bad.py"), "def plan():\n    return 1 +\n");
        CaravanProcess bad = fleet.run("compute", "bad.py", "--sink", "sink").endsWith(2);
        assertThat(bad.stderr()).contains("bad.py: line 2: expected Python, found SyntaxError");
        try (Stream<Path> runs = Files.list(fleet.folder().resolve("sink/runs"))) {
            assertThat(runs.filter(run -> !run.getFileName().toString().startsWith(".")))
                    .isEmpty();
        }
        assertThat(fleet.run("compute", "code/task.py", "--source-directory", "code", "--check", "--", "--rates", "2")
                        .endsWith(0)
                        .json())
                .isEqualTo(JSON.readTree("{\"items\":8,\"repeated\":0,\"skipped\":0,\"generated\":0}"));
        assertThat(fleet.run("compute", "code/task.py", "--source-directory", "code", "--check", "--", "--rates", "x")
                        .endsWith(2)
                        .stderr())
                .contains("task.py failed: ")
                .contains("SystemExit: 2");
    }
}
