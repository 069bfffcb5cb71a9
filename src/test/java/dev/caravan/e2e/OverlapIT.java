package dev.caravan.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.caravan.shard.Claim;
import dev.caravan.shard.ClaimStatus;
import dev.caravan.store.JobFiles;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** While one shard computes, the next one is made ready and the one before is published. */
class OverlapIT {
    /** The first shard that any node works on is worked on until the test says so. */
    private static final String FIRST_WAITS =
            "if mkdir \"$5/first\" 2>/dev/null; then while [ ! -e \"$5/go\" ]; do sleep 0.05; done; fi";

    /** With the default lease a takeover would take longer than any of these tests. */
    @RegisterExtension
    final Fleet fleet = new Fleet();

    private Path scratch() {
        return fleet.folder().resolve("scratch");
    }

    /** A node that works on the first shard of a job and holds another one ahead. */
    private CaravanProcess nodeAtWorkOn(Sample job, String... options) {
        fleet.with("exec.scratch", scratch().toString());
        submit(job);
        CaravanProcess node =
                fleet.start(Stream.concat(Stream.of("node", "--root", job.root().toString()), Stream.of(options))
                        .toArray(String[]::new));
        Await.until("a shard is worked on", () -> Files.exists(fleet.folder().resolve("first")), node::toString);
        Await.until("another one is claimed", () -> claimed(job).size() == 2, node::toString);
        return node;
    }

    private void submit(Sample job) {
        fleet.run("submit", job.descriptor().toString(), "--root", job.root().toString())
                .endsWith(0);
    }

    private static List<String> claimed(Sample job) {
        return IntStream.range(0, job.shards())
                .mapToObj(job::shard)
                .filter(shard -> Sample.claim(job.inRoot(), shard, 1).isPresent())
                .toList();
    }

    private static String worked(Sample job) {
        return job.runs().get(0).split(" ")[0];
    }

    private static String ahead(Sample job) {
        return claimed(job).stream()
                .filter(shard -> !shard.equals(worked(job)))
                .findFirst()
                .orElseThrow();
    }

    private static Claim claim(Sample job, String shard, long epoch) {
        return Sample.claim(job.inRoot(), shard, epoch).orElseThrow();
    }

    private static boolean isReleased(Sample job, String shard) {
        return claim(job, shard, 1).status() == ClaimStatus.RELEASED;
    }

    private static int done(Sample job) throws IOException {
        return new JobFiles(job.inRoot()).doneShards().size();
    }

    private void go() {
        Sample.write(fleet.folder().resolve("go"), "");
    }

    private static void assertComplete(Sample job) {
        assertThat(job.inRoot().mergedByDefault()).content().isEqualTo(job.expected());
    }

    /** Shards that lie cut out on the node's disk, with all their bytes. */
    private List<String> cutOut(Sample job) {
        try (Stream<Path> files = Files.walk(scratch())) {
            return files.filter(file -> file.toString().endsWith(".jsonl") && isWhole(job, file))
                    .map(file -> file.getFileName().toString().replace(".jsonl", ""))
                    .toList();
        } catch (IOException | UncheckedIOException changing) {
            return List.of();
        }
    }

    private static boolean isWhole(Sample job, Path file) {
        return new JobFiles(job.inRoot())
                .manifest().shards().stream()
                        .anyMatch(shard -> file.getFileName().toString().startsWith(shard.id() + ".")
                                && file.toFile().length() == shard.bytes());
    }

    @Test
    void the_next_shard_is_cut_out_while_one_computes_and_given_back_at_once_when_the_node_is_to_leave() {
        Sample job = new Sample(fleet.folder(), "leaving", 40, 8).written(FIRST_WAITS);
        fleet.with("node.drain", "2m");
        CaravanProcess leaving = nodeAtWorkOn(job);
        String ahead = ahead(job);
        Await.until("both shards are cut out", () -> cutOut(job).size() == 2, leaving::toString);
        assertThat(cutOut(job)).containsExactlyInAnyOrder(worked(job), ahead);
        assertThat(job.runs()).hasSize(1);

        leaving.signal("TERM");

        Await.until("the claim is given back", () -> isReleased(job, ahead), leaving::toString);
        assertThat(claim(job, worked(job), 1).status()).isEqualTo(ClaimStatus.RUNNING);
        CaravanProcess staying = fleet.start("node", "--root", job.root().toString(), "--once");
        Await.until("another node works on it", () -> job.hasRun(ahead, "0002-"), staying::toString);
        go();
        leaving.ends();
        staying.endsWith(0);
        assertThat(claim(job, ahead, 1).reason()).isEqualTo("the node leaves");
        assertThat(claim(job, ahead, 2).spent().total()).isZero();
        assertThat(claim(job, worked(job), 1).status()).isEqualTo(ClaimStatus.DONE);
        assertThat(job.runs()).hasSize(8);
        assertThat(cutOut(job)).isEmpty();
        assertComplete(job);
    }

    /** The program of the first shard leaves a pipe, so that its result cannot be read before the test writes it. */
    @Test
    void a_shard_computes_while_the_result_of_the_one_before_is_put_together() throws IOException {
        Sample job = new Sample(fleet.folder(), "slow", 40, 8).written("""
                        if mkdir "$5/first" 2>/dev/null; then
                            sed 's/red/blue/' "$1" > "$5/kept.jsonl"; mkdir "$2"; mkfifo "$2/result.jsonl"; exit 0
                        fi
                        while [ ! -e "$5/go" ]; do sleep 0.05; done
                        """);
        submit(job);
        CaravanProcess node = fleet.start("node", "--root", job.root().toString(), "--once");

        Await.until("a second shard is worked on", () -> job.runs().size() == 2, node::toString);
        assertThat(claim(job, worked(job), 1).status()).isEqualTo(ClaimStatus.RUNNING);
        assertThat(done(job)).isZero();
        Await.until("a third one is claimed", () -> claimed(job).size() == 3, node::toString);

        Path pipe = new JobFiles(job.inRoot())
                .layout()
                .resolve(claim(job, worked(job), 1).attemptDir())
                .resolve("output.jsonl")
                .resolve("result.jsonl");
        Files.write(pipe, Files.readAllBytes(fleet.folder().resolve("kept.jsonl")));
        Await.until("its result is published", () -> done(job) == 1, node::toString);
        go();
        node.endsWith(0);
        assertThat(claim(job, worked(job), 1).status()).isEqualTo(ClaimStatus.DONE);
        assertComplete(job);
    }

    @Test
    void a_killed_nodes_shard_that_had_not_begun_is_taken_over_like_any_other() {
        Sample job = new Sample(fleet.folder(), "killed", 40, 8).written(FIRST_WAITS);
        fleet.withShortLeases();
        CaravanProcess killed = nodeAtWorkOn(job);
        String ahead = ahead(job);

        killed.kill();

        fleet.run("node", "--root", job.root().toString(), "--once").endsWith(0);
        assertThat(claim(job, ahead, 1).status()).isEqualTo(ClaimStatus.RUNNING);
        assertThat(claim(job, ahead, 2).tookOver())
                .isEqualTo(claim(job, ahead, 1).token());
        assertThat(claim(job, ahead, 2).status()).isEqualTo(ClaimStatus.DONE);
        assertComplete(job);
    }

    @Test
    void an_idle_node_gets_the_shard_that_waits_on_a_busy_one() {
        Sample job = new Sample(fleet.folder(), "tail", 40, 8).written(FIRST_WAITS);
        CaravanProcess busy = nodeAtWorkOn(job, "--once");
        String ahead = ahead(job);

        CaravanProcess other = fleet.start("node", "--root", job.root().toString(), "--once");

        Await.until("all others are done", () -> done(job) == 7, () -> busy + "\n" + other);
        go();
        busy.endsWith(0);
        other.endsWith(0);
        assertThat(isReleased(job, ahead)).isTrue();
        assertThat(claim(job, ahead, 1).pid()).isEqualTo(busy.pid());
        assertThat(claim(job, ahead, 2).pid()).isEqualTo(other.pid());
        assertThat(job.runs()).hasSize(8);
        assertComplete(job);
    }

    @Test
    void a_shard_that_waits_is_given_back_when_its_job_is_paused_and_for_a_job_of_greater_priority() {
        Sample job = new Sample(fleet.folder(), "minor", 40, 8).written(FIRST_WAITS);
        CaravanProcess node = nodeAtWorkOn(job, "--once");
        String paused = ahead(job);
        String jobDir = job.inRoot().path().toString();

        fleet.run("pause", "--job-dir", jobDir).endsWith(0);
        Await.until("the claim is given back", () -> isReleased(job, paused), node::toString);
        assertThat(claim(job, worked(job), 1).status()).isEqualTo(ClaimStatus.RUNNING);

        fleet.run("resume", "--job-dir", jobDir).endsWith(0);
        Await.until("another shard is held", () -> claimed(job).size() == 3, node::toString);
        String outranked = claimed(job).stream()
                .filter(shard -> !List.of(worked(job), paused).contains(shard))
                .findFirst()
                .orElseThrow();
        Sample urgent = new Sample(fleet.folder(), "urgent", 6, 3).written("", "priority: 7");
        submit(urgent);
        Await.until("it is given back", () -> isReleased(job, outranked), node::toString);
        assertThat(claim(job, outranked, 1).reason()).contains("greater priority");

        go();
        node.endsWith(0);
        assertThat(job.runs().subList(1, 4)).allMatch(run -> run.contains("-of-00003 "));
        assertComplete(job);
        assertComplete(urgent);
    }
}
