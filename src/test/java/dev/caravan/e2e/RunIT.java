package dev.caravan.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class RunIT {
    /** No shard ends before three run. */
    private static final String THREE_AT_ONCE = "while [ $(wc -l < \"$5/runs.txt\") -lt 3 ]; do sleep 0.05; done";

    @RegisterExtension
    final Fleet fleet = new Fleet();

    private List<CaravanProcess> threeTimes(String... arguments) {
        return Stream.generate(() -> fleet.start(arguments)).limit(3).toList();
    }

    private static String[] run(Sample job, String... more) {
        List<String> arguments =
                new ArrayList<>(List.of("run", job.descriptor().toString(), "--job-dir", job.jobDir(), "--json"));
        arguments.addAll(List.of(more));
        return arguments.toArray(String[]::new);
    }

    private static long count(List<CaravanProcess> processes, String logged) {
        return processes.stream()
                .flatMap(process -> process.stderr().lines())
                .filter(line -> line.contains(logged))
                .count();
    }

    @Test
    void three_processes_make_one_job_and_end_with_the_same_result() throws IOException {
        Sample job = new Sample(fleet.folder(), "together", 90, 9).written(THREE_AT_ONCE);

        List<CaravanProcess> nodes = threeTimes(run(job));

        nodes.forEach(node -> node.endsWith(0));
        JsonNode result = nodes.get(0).json();
        assertThat(nodes).allSatisfy(node -> assertThat(node.json()).isEqualTo(result));
        assertThat(count(nodes, "prepare of together epoch 1: elected")).isEqualTo(1);
        assertThat(count(nodes, "finalize of together epoch 1: elected")).isEqualTo(1);
        assertThat(job.runs()).as("runs").hasSize(9);
        assertThat(result.at("/rows").asInt()).isEqualTo(90);
        assertThat(result.at("/shards")).hasSize(9);
        assertThat(result.at("/nodes")).as("nodes that did a shard").hasSize(3);
        Path output = Path.of(result.at("/output").asText());
        assertThat(output)
                .isEqualTo(job.inOwnDirectory().mergedByDefault())
                .content()
                .isEqualTo(job.expected());

        var written = Files.getLastModifiedTime(output);
        assertThat(fleet.run(run(job)).endsWith(0).json()).as("the same again").isEqualTo(result);
        assertThat(fleet.run(run(job, "--run-id", "second")).endsWith(0).json())
                .as("the same again in a run of its own")
                .isEqualTo(result);
        assertThat(Files.getLastModifiedTime(output)).isEqualTo(written);
        assertThat(job.runs()).as("runs").hasSize(9);

        Sample.write(job.descriptor(), job.yaml("policy: {max_retries: 7}"));
        assertThat(fleet.run(run(job)).endsWith(2).stderr()).contains("run 'default'", "something else", "--run-id");
        assertThat(fleet.run(run(job, "--run-id", "third")).endsWith(2).stderr())
                .contains("already exists and does not match this request", "policy");
        assertThat(job.runs()).as("runs").hasSize(9);
    }

    @Test
    void input_that_cannot_be_read_ends_all_processes_alike_and_leaves_no_job() {
        Sample job = new Sample(fleet.folder(), "broken", 50, 5).written("");
        String good = Sample.read(job.input());
        String before = good.lines().limit(20).reduce("", (text, line) -> text + line + "\n");
        Sample.write(job.input(), before + "[1, 2]\n" + good.substring(before.length()));

        List<CaravanProcess> nodes = threeTimes(run(job));

        nodes.forEach(node -> node.endsWith(2));
        String error = nodes.get(0).json().at("/error").asText();
        assertThat(error).contains(job.input().toString(), "line 21, byte " + before.getBytes().length, "[1, 2]");
        assertThat(nodes)
                .allSatisfy(
                        node -> assertThat(node.json().at("/error").asText()).isEqualTo(error));
        assertThat(job.inOwnDirectory().path()).doesNotExist();
        assertThat(Sample.names(fleet.folder().resolve("jobs")))
                .as("what is left beside the job directory")
                .containsExactly(
                        job.inOwnDirectory().coordination().getFileName().toString());
        assertThat(fleet.run("status", "--job-dir", job.jobDir()).endsWith(2).stdout())
                .contains("line 21");

        Sample.write(job.input(), good);
        fleet.run(run(job, "--run-id", "corrected")).endsWith(0);
        assertThat(job.inOwnDirectory().mergedByDefault()).content().isEqualTo(job.expected());
    }

    @Test
    void a_preparer_that_freezes_or_dies_is_replaced_by_the_next_node() throws IOException {
        fleet.withShortLeases();
        Sample job = new Sample(fleet.folder(), "large", 60, 6).written("");
        String row = "{\"colour\":\"red\",\"text\":\"" + "x".repeat(700_000) + "\"}\n";
        Sample.write(job.input(), row.repeat(job.rows()));
        List<CaravanProcess> nodes = threeTimes(run(job));

        CaravanProcess frozen = preparer(job, nodes, 1);
        frozen.signal("STOP");
        assertThat(job.inOwnDirectory().path())
                .as("frozen in the middle of prepare")
                .doesNotExist();
        CaravanProcess killed = preparer(job, nodes, 2);
        killed.kill();
        assertThat(job.inOwnDirectory().path())
                .as("killed in the middle of prepare")
                .doesNotExist();
        CaravanProcess third = nodes.stream()
                .filter(node -> node != frozen && node != killed)
                .findFirst()
                .orElseThrow();
        third.endsWith(0);
        frozen.signal("CONT");

        frozen.endsWith(0);
        assertThat(third.stderr()).contains("prepare of large epoch 3: elected");
        assertThat(frozen.json()).isEqualTo(third.json());
        assertThat(job.runs()).hasSize(6);
        assertThat(Files.mismatch(
                        job.inOwnDirectory().mergedByDefault(),
                        Files.writeString(fleet.folder().resolve("expected"), job.expected())))
                .as("first byte that differs")
                .isEqualTo(-1);
        assertThat(Sample.names(fleet.folder().resolve("jobs")))
                .as("stages of preparers that did not finish")
                .noneMatch(name -> name.contains(".preparing."));
    }

    /** Waits until the given number of preparers have begun to write, and tells who the last is. */
    private static CaravanProcess preparer(Sample job, List<CaravanProcess> nodes, int epoch) {
        Path jobs = job.inOwnDirectory().path().getParent();
        Await.until(
                "preparer " + epoch + " writes",
                () -> Files.exists(jobs)
                        && Sample.names(jobs).stream()
                                        .filter(job.inOwnDirectory()::isStage)
                                        .count()
                                == epoch,
                nodes::toString);
        return nodes.stream()
                .filter(node -> node.stderr().contains("prepare of large epoch " + epoch + ": elected"))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void strict_participation_is_checked_before_and_after_the_work() {
        Sample job = new Sample(fleet.folder(), "strict", 30, 4).written("");

        assertThat(fleet.run(run(job, "--require-all-nodes")).endsWith(2).stderr())
                .contains("--nodes");
        assertThat(fleet.run(run(job, "--require-all-nodes", "--nodes", "5"))
                        .endsWith(2)
                        .stderr())
                .contains("4 shards cannot be divided");
        assertThat(fleet.run(run(job, "--require-all-nodes", "--nodes", "3"))
                        .endsWith(2)
                        .stderr())
                .contains("4 shards cannot be divided");
        assertThat(job.inOwnDirectory().coordination()).as("a refused run").doesNotExist();

        String[] alone = run(job, "--require-all-nodes", "--nodes", "2", "--wait-timeout-secs", "2");
        assertThat(fleet.run(alone).endsWith(2).stderr()).contains("has not ended");
        assertThat(job.runs()).as("half of the shards, and no more").hasSize(2);
        assertThat(fleet.run(alone).endsWith(2).stderr())
                .as("two nodes of one host are one host")
                .contains("by 1 host(s) and not by 2");
        assertThat(job.runs()).hasSize(4);
        fleet.run(run(job, "--require-all-nodes", "--nodes", "1")).endsWith(0);
    }
}
