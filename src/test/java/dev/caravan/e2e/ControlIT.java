package dev.caravan.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.caravan.shard.Claim;
import dev.caravan.shard.ClaimStatus;
import dev.caravan.store.Json;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A job is paused, resumed and cancelled while a node works on it. */
class ControlIT {
    private static final String UNTIL_GO = "while [ ! -e \"$5/go\" ]; do sleep 0.05; done";

    @RegisterExtension
    final Fleet fleet = new Fleet();

    private CaravanProcess nodeAtWorkOn(Sample job) {
        String root = job.root().toString();
        fleet.run("submit", job.descriptor().toString(), "--root", root).endsWith(0);
        CaravanProcess node = fleet.start("node", "--root", root, "--once");
        Await.until("a shard is worked on", () -> !job.runs().isEmpty(), node::toString);
        return node;
    }

    private static long beat(Sample job) throws IOException {
        Path nodes = job.root().resolve("nodes");
        String name = Sample.names(nodes).stream()
                .filter(each -> each.endsWith(".json"))
                .findFirst()
                .orElseThrow();
        return Json.tree(Files.readAllBytes(nodes.resolve(name))).get("beat").asLong();
    }

    @Test
    void nothing_of_a_paused_job_is_claimed_until_it_is_resumed() throws IOException {
        Sample job = new Sample(fleet.folder(), "paused", 6, 3).written(UNTIL_GO, "shards: files");
        CaravanProcess node = nodeAtWorkOn(job);

        fleet.run("pause", "--root", job.root().toString(), "--name", "paused").endsWith(0);
        node.awaitLog("job paused is paused");
        Files.createFile(fleet.folder().resolve("go"));
        Path done = job.inRoot().doneRecords();
        Await.until("what ran has ended", () -> Sample.names(done).size() == 1, node::toString);
        long before = beat(job);
        Await.until("many polls are over", () -> beat(job) >= before + 2, node::toString);
        assertThat(job.runs()).hasSize(1);
        CaravanProcess status =
                fleet.run("status", "--job-dir", job.inRoot().path().toString());
        assertThat(status.endsWith(1).stdout()).contains("state   paused");

        fleet.run("resume", "--job-dir", job.inRoot().path().toString()).endsWith(0);
        node.endsWith(0);
        assertThat(job.inRoot().mergedByDefault()).content().isEqualTo(job.expected());
        assertThat(job.inRoot().report()).content().contains("<h1>paused: done</h1>");
        watch(job);
        clean(job);
    }

    private void watch(Sample job) {
        CaravanProcess all = fleet.start("watch", "--root", job.root().toString());
        Await.until("the jobs are shown", () -> all.stdout().contains("node "), all::toString);
        assertThat(all.stdout()).containsPattern("(?m)^paused +done +3 of 3 +0$");
        all.kill();
        CaravanProcess one = fleet.run("watch", "--job-dir", job.inRoot().path().toString());
        assertThat(one.endsWith(0).stdout()).contains("state   done");
    }

    private void clean(Sample job) throws IOException {
        String root = job.root().toString();
        assertThat(fleet.run("clean", "--root", root).endsWith(0).stdout()).contains("kept  paused: ended at");
        assertThat(fleet.run("clean", "--root", root, "--older-than", "0s")
                        .endsWith(0)
                        .stdout())
                .contains("would remove  paused", "a dry run");
        assertThat(job.inRoot().shards()).isNotEmptyDirectory();
        byte[] merged = Files.readAllBytes(job.inRoot().mergedByDefault());
        Files.write(job.inRoot().mergedByDefault(), new byte[1]);
        assertThat(fleet.run("clean", "--root", root, "--older-than", "0s", "--force")
                        .endsWith(0)
                        .stdout())
                .contains("kept  paused: its output");
        assertThat(job.inRoot().attempts()).isNotEmptyDirectory();

        Files.write(job.inRoot().mergedByDefault(), merged);
        fleet.run("clean", "--root", root, "--older-than", "0s", "--force").endsWith(0);
        assertThat(job.inRoot().shards()).doesNotExist();
        assertThat(job.inRoot().attempts()).doesNotExist();
        String jobDir = job.inRoot().path().toString();
        assertThat(fleet.run("status", "--job-dir", jobDir).endsWith(0).stdout())
                .contains("state   done");
        fleet.run("doctor", "--job-dir", jobDir).endsWith(0);
        assertThat(fleet.run("merge", "--job-dir", jobDir).endsWith(2).stderr()).contains("was cleaned");
        assertThat(fleet.run("verify", "--job-dir", jobDir).endsWith(2).stderr())
                .contains("was cleaned");
        assertThat(job.inRoot().mergedByDefault()).content().isEqualTo(job.expected());
    }

    @Test
    void the_attempts_of_a_cancelled_job_are_ended_and_it_is_never_merged() {
        Sample job = new Sample(fleet.folder(), "cancelled", 6, 3).written(UNTIL_GO);
        String jobDir = job.inRoot().path().toString();
        CaravanProcess node = nodeAtWorkOn(job);
        String shard = job.runs().get(0).split(" ")[0];
        long pid = job.pidOfRun(shard, "0001");

        fleet.run("cancel", "--job-dir", jobDir).endsWith(0);

        node.endsWith(0);
        assertThat(Sample.isGone(pid)).as("the program of the attempt").isTrue();
        Claim claim = Sample.claim(job.inRoot(), shard, 1).orElseThrow();
        assertThat(claim.status()).isEqualTo(ClaimStatus.RELEASED);
        assertThat(claim.reason()).isEqualTo("the job was cancelled");
        assertThat(job.runs()).hasSize(1);
        assertThat(fleet.run("status", "--job-dir", jobDir).endsWith(2).stdout())
                .contains("state   cancelled");
        assertThat(fleet.run("resume", "--job-dir", jobDir).endsWith(2).stderr())
                .contains("it was cancelled");
        assertThat(fleet.run("merge", "--job-dir", jobDir).endsWith(2).stderr()).contains("was cancelled");
        assertThat(job.inRoot().mergedByDefault()).doesNotExist();
        assertThat(job.inRoot().report()).content().contains("<h1>cancelled: cancelled</h1>");
    }

    @Test
    void shards_of_the_job_with_the_greater_priority_are_worked_on_first() throws IOException {
        Sample first = new Sample(fleet.folder(), "a-minor", 6, 2).written("");
        Sample second = new Sample(fleet.folder(), "b-urgent", 6, 3).written("", "priority: 7");
        String root = first.root().toString();
        for (Sample job : List.of(first, second)) {
            fleet.run("submit", job.descriptor().toString(), "--root", root).endsWith(0);
        }
        fleet.with("node.slots", "1").with("node.min_free", "1000000TiB");
        CaravanProcess preparing = fleet.start("node", "--root", root, "--once");
        preparing.awaitLog("job a-minor: prepared");
        preparing.awaitLog("job b-urgent: prepared");
        preparing.kill();
        assertThat(first.runs()).isEmpty();

        fleet.with("node.min_free", "1B").run("node", "--root", root, "--once").endsWith(0);

        assertThat(first.runs())
                .extracting(run -> run.substring(run.indexOf("-of-"), run.indexOf(' ')))
                .containsExactly("-of-00003", "-of-00003", "-of-00003", "-of-00002", "-of-00002");
    }

    @Test
    void a_node_claims_no_shard_while_the_disk_is_nearly_full_and_says_so() throws IOException {
        Sample job = new Sample(fleet.folder(), "roomy", 6, 3).written("");
        String root = job.root().toString();
        fleet.run("submit", job.descriptor().toString(), "--root", root).endsWith(0);
        CaravanProcess node = fleet.with("node.min_free", "1000000TiB").start("node", "--root", root, "--once");

        node.awaitLog("no shard is claimed until there is room again");
        node.awaitLog("job roomy: prepared");
        long before = beat(job);
        Await.until("many polls are over", () -> beat(job) >= before + 2, node::toString);
        assertThat(job.runs()).isEmpty();
        CaravanProcess status =
                fleet.run("status", "--job-dir", job.inRoot().path().toString());
        assertThat(status.endsWith(1).stdout()).contains("claims no shard").contains("less than node.min_free");
        node.kill();

        fleet.with("node.min_free", "1B").run("node", "--root", root, "--once").endsWith(0);
        assertThat(job.inRoot().mergedByDefault()).content().isEqualTo(job.expected());
    }
}
