package dev.caravan.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.caravan.shard.AttemptRecord;
import dev.caravan.shard.AttemptStatus;
import dev.caravan.shard.Claim;
import dev.caravan.shard.ClaimStatus;
import dev.caravan.shard.DoneRecord;
import dev.caravan.shard.Manifest;
import dev.caravan.shard.ShardId;
import dev.caravan.shard.Spent;
import dev.caravan.store.JobFiles;
import dev.caravan.store.Json;
import dev.caravan.store.Layout;
import java.io.IOException;
import java.nio.file.Files;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class DeadNodeIT {
    /** Never ends by itself in the first epoch of the job's second shard. */
    private static final String HANGS_ONCE = """
            case "$3 ${4##*/}" in part-00001-*' '0001-*) sleep 1000; exit 1;; esac
            """;

    /** Nothing is claimed ahead, so that the first epoch of a shard is its first attempt. */
    @RegisterExtension
    final Fleet fleet = new Fleet().withShortLeases().with("node.prefetch", "0");

    private static String shard(Sample job) {
        return job.shard(1);
    }

    private static Claim claim(Sample job, long epoch) {
        return Sample.claim(job.inRoot(), shard(job), epoch).orElseThrow();
    }

    private static AttemptRecord attempt(Sample job, Claim claim) throws IOException {
        Layout.Attempt attempt = job.inRoot().attempt(ShardId.parse(shard(job)), claim.epoch(), claim.token());
        return Json.parse(Files.readAllBytes(attempt.record()), AttemptRecord.class);
    }

    @Test
    void a_killed_node_leaves_no_process_behind_and_another_finishes_its_shard() throws IOException {
        Sample job = new Sample(fleet.folder(), "takeover", 40, 4).written(HANGS_ONCE);
        String root = job.root().toString();
        fleet.run("submit", job.descriptor().toString(), "--root", root).endsWith(0);
        CaravanProcess a = fleet.start("node", "--root", root, "--once");
        CaravanProcess b = fleet.start("node", "--root", root, "--once");
        Await.until("the hanging shard runs", () -> job.hasRun(shard(job), "0001-"), () -> a + "\n" + b);
        long child = job.pidOfRun(shard(job), "0001-");
        CaravanProcess victim = claim(job, 1).pid() == a.pid() ? a : b;
        CaravanProcess survivor = victim == a ? b : a;

        victim.kill();

        Await.until("the child of the killed node is gone", () -> Sample.isGone(child));
        survivor.endsWith(0);
        assertThat(job.inRoot().mergedByDefault()).content().isEqualTo(job.expected());
        DoneRecord done =
                new JobFiles(job.inRoot()).done(ShardId.parse(shard(job))).orElseThrow();
        assertThat(done.epoch()).isEqualTo(2);
        assertThat(done.pid()).isEqualTo(survivor.pid());
        assertThat(job.runs().stream().filter(run -> run.startsWith(shard(job) + " ")))
                .as("runs of the shard")
                .hasSize(2);
        assertThat(job.runs()).as("runs in all").hasSize(5);
        assertThat(claim(job, 1).status()).as("nobody rewrites a dead claim").isEqualTo(ClaimStatus.RUNNING);
        assertThat(attempt(job, claim(job, 1)).status())
                .as("the evidence of the first attempt")
                .isEqualTo(AttemptStatus.RUNNING);
        assertThat(claim(job, 2).tookOver()).isEqualTo(claim(job, 1).token());
        assertThat(claim(job, 2).spent())
                .as("a lost node is not the data's fault")
                .isEqualTo(new Spent(0, 1, 0, 0));
        assertThat(fleet.run("verify", "--job-dir", job.inRoot().path().toString())
                        .endsWith(0)
                        .stdout())
                .endsWith("PASS\n");
    }

    @Test
    void a_frozen_node_fences_itself_when_it_wakes_and_publishes_nothing() throws IOException {
        String finishesWhileFrozen = """
                case "$3 ${4##*/}" in part-00000-*' '0001-*) while [ ! -e "$5/gate" ]; do sleep 0.05; done;; esac
                """;
        Sample job = new Sample(fleet.folder(), "freeze", 40, 2).written(HANGS_ONCE + finishesWhileFrozen);
        String root = job.root().toString();
        fleet.run("submit", job.descriptor().toString(), "--root", root).endsWith(0);
        CaravanProcess frozen = fleet.start("node", "--root", root, "--once", "--slots", "2");
        Await.until(
                "both shards run on the first node",
                () -> job.hasRun(job.shard(0), "0001-") && job.hasRun(job.shard(1), "0001-"),
                frozen::toString);
        long hanging = job.pidOfRun(job.shard(1), "0001-");
        long finishing = job.pidOfRun(job.shard(0), "0001-");

        frozen.signal("STOP");
        Sample.write(fleet.folder().resolve("gate"), "");
        Await.until("a child finishes while its node is frozen", () -> Sample.isGone(finishing));
        fleet.start("node", "--root", root, "--once").endsWith(0);
        assertThat(Sample.isGone(hanging))
                .as("the frozen node's other child is gone")
                .isFalse();
        byte[] merged = Files.readAllBytes(job.inRoot().mergedByDefault());
        List<DoneRecord> done = doneRecords(job);
        frozen.signal("CONT");

        frozen.endsWith(0);
        assertThat(frozen.stderr()).contains("lease lost");
        assertThat(Sample.isGone(hanging)).as("the woken node's child is gone").isTrue();
        assertThat(doneRecords(job)).as("done records").isEqualTo(done).allMatch(record -> record.epoch() == 2);
        assertThat(job.inRoot().mergedByDefault())
                .hasBinaryContent(merged)
                .content()
                .isEqualTo(job.expected());
        for (int shard = 0; shard < 2; shard++) {
            Claim lost = Sample.claim(job.inRoot(), job.shard(shard), 1).orElseThrow();
            assertThat(lost.status()).isEqualTo(ClaimStatus.SUPERSEDED);
            assertThat(Json.parse(
                                    Files.readAllBytes(job.inRoot()
                                            .attempt(ShardId.parse(job.shard(shard)), 1, lost.token())
                                            .record()),
                                    AttemptRecord.class)
                            .status())
                    .isEqualTo(AttemptStatus.LOST);
        }
    }

    private static List<DoneRecord> doneRecords(Sample job) {
        JobFiles files = new JobFiles(job.inRoot());
        return files.manifest().shards().stream()
                .map(Manifest.Shard::id)
                .map(shard -> files.done(shard).orElseThrow())
                .toList();
    }
}
