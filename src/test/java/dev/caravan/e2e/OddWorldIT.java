package dev.caravan.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.caravan.shard.Claim;
import dev.caravan.shard.ClaimStatus;
import dev.caravan.shard.DoneRecord;
import dev.caravan.shard.ShardId;
import dev.caravan.store.JobFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What is on the disk, or around a node, is not as the program would make it. */
class OddWorldIT {
    private static final Duration LEASE = Duration.ofSeconds(4);

    /** Nothing is claimed ahead, so that the first epoch of a shard is its first attempt. */
    @RegisterExtension
    final Fleet fleet = new Fleet().withShortLeases().with("node.prefetch", "0");

    private Sample prepared(String extra) {
        Sample job = new Sample(fleet.folder(), "odd", 20, 2).written(extra);
        fleet.run("prepare", job.descriptor().toString(), "--job-dir", job.jobDir())
                .endsWith(0);
        return job;
    }

    private static DoneRecord done(Sample job, int shard) {
        return new JobFiles(job.inOwnDirectory())
                .done(ShardId.parse(job.shard(shard)))
                .orElseThrow();
    }

    /** Empty; cut off; not JSON; of a version with other fields; of one with another state. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "{\"key\": \"part-00000-of-0",
                "\0\0\0\0",
                "[]",
                "{\"version\": 9, \"owner\": \"x\", \"failed_on\": []}",
                "{\"key\":\"k\",\"epoch\":1,\"token\":\"t\",\"node\":\"n\",\"hostname\":\"h\",\"pid\":1,"
                        + "\"status\":\"hibernating\",\"spent\":{\"data\":0,\"infra\":0,\"stalled\":0,\"timeout\":0},"
                        + "\"failed_on\":[]}"
            })
    void a_claim_that_cannot_be_read_runs_until_it_was_watched_for_a_whole_lease(String content) throws IOException {
        Sample job = prepared("");
        Path lock = job.inOwnDirectory().locks().resolve(job.shard(0) + ".1.lock");
        Files.writeString(lock, content);

        long began = System.nanoTime();
        fleet.run("worker", "--job-dir", job.jobDir()).endsWith(0);

        assertThat(Duration.ofNanos(System.nanoTime() - began)).isGreaterThan(LEASE);
        assertThat(done(job, 0).epoch()).isEqualTo(2);
        assertThat(done(job, 1).epoch()).as("the other shard does not wait").isEqualTo(1);
        assertThat(lock).as("evidence").hasContent(content);
        fleet.run("merge", "--job-dir", job.jobDir()).endsWith(0);
        assertThat(job.inOwnDirectory().mergedByDefault()).content().isEqualTo(job.expected());
    }

    @Test
    void a_claim_with_more_fields_than_this_version_knows_is_read_as_any_other() throws IOException {
        Sample job = prepared("");
        Files.writeString(job.inOwnDirectory().locks().resolve(job.shard(0) + ".1.lock"), """
                {"key": "%s", "epoch": 1, "token": "t", "node": "n", "hostname": "h", "pid": 1, "claimed_at": "x",
                 "status": "failed", "failure_class": "data", "reason": "r", "attempt_dir": null,
                 "spent": {"data": 1, "infra": 0, "stalled": 0, "timeout": 0, "cosmic": 5},
                 "failed_on": ["n"], "took_over": null, "colour": "green"}
                """.formatted(job.shard(0)));

        fleet.run("worker", "--job-dir", job.jobDir()).endsWith(0);

        Claim next = Sample.claim(job.inOwnDirectory(), job.shard(0), 2).orElseThrow();
        assertThat(next.spent().data()).as("failures charged before are known").isEqualTo(2);
        assertThat(next.status()).isEqualTo(ClaimStatus.DONE);
    }

    @Test
    void nodes_with_one_host_name_and_one_process_id_are_told_apart() throws IOException {
        List<String> world = Trick.inOwnProcessNamespace("everybody");
        Sample job = new Sample(fleet.folder(), "odd", 40, 4)
                .written("case \"$3 $(basename \"$4\")\" in part-00001-*' '0001-*) sleep 1000; exit 1;; esac");
        String root = job.root().toString();
        fleet.run("submit", job.descriptor().toString(), "--root", root).endsWith(0);
        CaravanProcess a = fleet.startUnder(world, "node", "--root", root, "--once", "--slots", "2");
        Await.until("the hanging shard runs", () -> job.hasRun(job.shard(1), "0001-"), a::toString);
        Claim first = Sample.claim(job.inRoot(), job.shard(1), 1).orElseThrow();
        CaravanProcess b = fleet.startUnder(world, "node", "--root", root, "--once");
        Await.until(
                "the second node is there",
                () -> Sample.names(job.root().resolve("nodes")).size() == 2,
                b::toString);

        a.kill();

        b.endsWith(0);
        Claim second = Sample.claim(job.inRoot(), job.shard(1), 2).orElseThrow();
        assertThat(first.pid())
                .as("a reused process id")
                .isEqualTo(second.pid())
                .isLessThan(10);
        assertThat(first.hostname()).isEqualTo(second.hostname()).isEqualTo("everybody");
        assertThat(first.node()).isNotEqualTo(second.node());
        assertThat(second.tookOver()).isEqualTo(first.token());
        assertThat(job.inRoot().mergedByDefault()).content().isEqualTo(job.expected());
        assertThat(job.runs().stream()
                        .filter(run -> run.startsWith(job.shard(1)))
                        .count())
                .as("runs of the taken over shard")
                .isEqualTo(2);
        assertThat(IntStream.range(0, 4).filter(i -> i != 1).mapToObj(job::shard))
                .allSatisfy(shard -> assertThat(job.runs().stream().filter(run -> run.startsWith(shard)))
                        .hasSize(1));
    }

    @Test
    @DisplayName("D07 neither a home nor an input that can be written is needed; caches lie in the job directory")
    void a_home_and_an_input_that_cannot_be_written_are_enough() throws IOException {
        Path home = Files.createDirectories(fleet.folder().resolve("home"));
        Path input = Files.createDirectories(fleet.folder().resolve("input"));
        List<String> readOnly = new ArrayList<>(List.of("env", "-u", "XDG_CACHE_HOME", "-u", "HF_HOME"));
        readOnly.addAll(Trick.withMount(home.toString(), "-t tmpfs -o ro tmpfs"));
        readOnly.addAll(Trick.withMount(input.toString(), "-o bind,ro", "'" + input + "'"));
        Sample job = new Sample(fleet.folder(), "odd", 20, 2).written("""
                for folder in "$HOME" "$5/input"; do
                  touch "$folder/x" 2>/dev/null && { echo "$folder can be written"; exit 9; }
                done
                mkdir -p "$HF_HOME" && touch "$XDG_CACHE_HOME/library" "$HF_HOME/$3" || exit 9
                """);
        Path rows = Files.copy(job.input(), input.resolve("rows.jsonl"));
        Sample.write(job.descriptor(), job.yaml().replace("dataset_path: " + job.input(), "dataset_path: " + rows));
        fleet.withVariable("HOME", home.toString()).withVariable("JAVA_TOOL_OPTIONS", "-Duser.home=" + home);

        fleet.startUnder(readOnly, "run", job.descriptor().toString(), "--job-dir", job.jobDir())
                .endsWith(0);

        Path cache = job.inOwnDirectory().cache();
        assertThat(job.inOwnDirectory().mergedByDefault()).content().isEqualTo(job.expected());
        assertThat(Sample.names(cache)).containsExactly("huggingface", "library");
        assertThat(Sample.names(cache.resolve("huggingface"))).containsExactly(job.shard(0), job.shard(1));
        assertThat(Sample.names(input)).containsExactly("rows.jsonl");
    }

    @Test
    void a_home_that_cannot_be_written_is_named_where_it_is_needed() throws IOException {
        Path home = Files.createDirectories(fleet.folder().resolve("home"));
        List<String> readOnly = Trick.withMount(home.toString(), "-t tmpfs -o ro tmpfs");
        fleet.withVariable("HOME", home.toString())
                .withVariable("XDG_CACHE_HOME", "")
                .withVariable("JAVA_TOOL_OPTIONS", "-Duser.home=" + home);

        assertThat(fleet.startUnder(readOnly, "python", "setup").endsWith(2).stderr())
                .contains("caravan: ")
                .contains(home.toString())
                .doesNotContain("\tat ");
    }
}
