package dev.caravan.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.caravan.shard.Claim;
import dev.caravan.shard.ClaimStatus;
import dev.caravan.shard.Spent;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class LeavingNodeIT {
    /** The first attempt ends by force alone. */
    private static final String DEAF_ONCE = """
            trap 'echo deaf to TERM' TERM
            case "${4##*/}" in 0001-*) while :; do sleep 0.2; done;; esac
            """;

    /** With the default lease a takeover would take longer than this test may. */
    @RegisterExtension
    final Fleet fleet = new Fleet();

    @Test
    void a_node_told_to_end_gives_its_shard_back_at_once_and_at_no_cost() {
        Sample job = new Sample(fleet.folder(), "leaving", 10, 1).written(DEAF_ONCE);
        String root = job.root().toString();
        fleet.run("submit", job.descriptor().toString(), "--root", root).endsWith(0);
        CaravanProcess leaving = fleet.start("node", "--root", root);
        Await.until("the shard runs", () -> job.hasRun(job.shard(0), "0001-"), leaving::toString);
        CaravanProcess staying = fleet.start("node", "--root", root, "--once");
        staying.awaitLog("starts");
        long child = job.pidOfRun(job.shard(0), "0001-");

        long told = System.nanoTime();
        leaving.signal("TERM");
        leaving.ends();
        assertThat(Duration.ofNanos(System.nanoTime() - told)).isLessThan(Duration.ofSeconds(30));

        assertThat(Sample.isGone(child)).as("the child is gone").isTrue();
        staying.endsWith(0);
        assertThat(Duration.ofNanos(System.nanoTime() - told))
                .as("less than a lease")
                .isLessThan(Duration.ofSeconds(45));
        Claim first = Sample.claim(job.inRoot(), job.shard(0), 1).orElseThrow();
        Claim second = Sample.claim(job.inRoot(), job.shard(0), 2).orElseThrow();
        assertThat(first.status()).isEqualTo(ClaimStatus.PREEMPTED);
        assertThat(second.status()).isEqualTo(ClaimStatus.DONE);
        assertThat(second.spent()).isEqualTo(Spent.NOTHING);
        assertThat(job.inRoot().mergedByDefault()).content().isEqualTo(job.expected());
    }

    @Test
    void a_run_leaves_on_usr1_and_after_its_time_and_the_next_one_goes_on() {
        Sample job = new Sample(fleet.folder(), "early", 10, 1)
                .written("while [ ! -e \"$5/released\" ]; do sleep 0.2; done");
        String[] run = {"run", job.descriptor().toString(), "--job-dir", job.jobDir()};
        fleet.with("node.drain", "1s");

        CaravanProcess signalled = fleet.start(run);
        Await.until("the shard runs", () -> job.hasRun(job.shard(0), "0001-"), signalled::toString);
        signalled.signal("USR1");
        assertThat(signalled.endsWith(1).stderr()).contains("0 of 1 shards are done");

        CaravanProcess limited = fleet.run(run[0], run[1], run[2], run[3], "--max-runtime", "10s");
        assertThat(limited.endsWith(1).stderr()).contains("--max-runtime is over", "0 of 1 shards are done");

        Sample.write(fleet.folder().resolve("released"), "");
        fleet.run(run).endsWith(0);
        assertThat(Sample.claim(job.inOwnDirectory(), job.shard(0), 1)
                        .orElseThrow()
                        .status())
                .isEqualTo(ClaimStatus.PREEMPTED);
        assertThat(job.inOwnDirectory().mergedByDefault()).content().isEqualTo(job.expected());
    }

    /** Containers may agree in host name and process id alike; only a random part tells them apart. */
    @Test
    void nodes_of_one_host_have_names_of_their_own() throws IOException {
        Path root = fleet.folder().resolve("root");
        List<CaravanProcess> nodes =
                List.of(fleet.start("node", "--root", root.toString()), fleet.start("node", "--root", root.toString()));

        Await.until(
                "both nodes show themselves",
                () -> Files.isDirectory(root.resolve("nodes"))
                        && Sample.names(root.resolve("nodes")).stream()
                                        .filter(name -> name.endsWith(".json"))
                                        .count()
                                == 2,
                nodes::toString);
        assertThat(Sample.names(root.resolve("nodes")))
                .allMatch(name -> name.matches(".+-[0-9a-f]{8}\\.json"))
                .as("names made of process ids")
                .noneMatch(name -> nodes.stream().anyMatch(node -> name.contains("-" + node.pid())));
        nodes.forEach(node -> node.signal("TERM"));
        nodes.forEach(CaravanProcess::ends);
    }
}
