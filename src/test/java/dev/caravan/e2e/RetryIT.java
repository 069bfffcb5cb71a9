package dev.caravan.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.caravan.shard.ShardId;
import dev.caravan.store.JobFiles;
import java.nio.file.Files;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class RetryIT {
    /** The third shard fails until the test makes the file {@code repaired}. */
    private static final String FAILS = """
            case "$3" in part-00002-*) [ -e "$5/repaired" ] || { echo "no such word" >&2; exit 7; };; esac
            """;

    private static final String ONE_RETRY = "policy: {max_retries: 1}";

    @RegisterExtension
    final Fleet fleet = new Fleet();

    private Sample sample() {
        return new Sample(fleet.folder(), "stubborn", 30, 5).written(FAILS, ONE_RETRY);
    }

    private void repair() {
        Sample.write(fleet.folder().resolve("repaired"), "");
    }

    @Test
    void a_shard_that_failed_for_good_is_told_everywhere_and_retried_on_request() {
        Sample job = sample();
        String root = job.root().toString();
        String jobDir = job.inRoot().path().toString();
        String failing = job.shard(2);
        fleet.run("submit", job.descriptor().toString(), "--root", root).endsWith(0);

        fleet.run("node", "--root", root, "--once").endsWith(2);

        assertThat(job.runs().stream().filter(run -> run.startsWith(failing)))
                .as("one attempt and one retry")
                .hasSize(2);
        CaravanProcess status = fleet.run("status", "--job-dir", jobDir).endsWith(2);
        assertThat(status.stdout())
                .contains("state   failed", "4 done, 1 failed", failing, "exit code 7", "process.log");
        JsonNode json =
                fleet.run("status", "--job-dir", jobDir, "--json").endsWith(2).json();
        assertThat(json.at("/state").asText()).isEqualTo("failed");
        assertThat(json.at("/failures/0/attempts").asInt()).isEqualTo(2);
        assertThat(json.at("/failures/0/failure_class").asText()).isEqualTo("data");
        assertThat(job.inRoot().resolve(json.at("/failures/0/attempt_dir").asText() + "/process.log"))
                .content()
                .contains("no such word");
        assertThat(fleet.run("merge", "--job-dir", jobDir).endsWith(2).stderr()).contains(failing);
        assertThat(job.inRoot().mergedByDefault()).doesNotExist();

        assertRefused(jobDir, job.shard(0), "is done");
        assertRefused(jobDir, "part-00099-of-00100", "no shard");
        assertRefused(jobDir, "third", "expected part-");
        assertThat(fleet.run("retry", "--job-dir", jobDir).endsWith(2).stderr()).contains("--all-failed", "--shard-id");
        assertThat(fleet.run("retry", "--job-dir", jobDir, "--all-failed", "--shard-id", failing)
                        .endsWith(2)
                        .stderr())
                .contains("mutually exclusive");
        assertThat(job.inRoot().failed(ShardId.parse(failing)))
                .as("nothing was requeued")
                .exists();

        repair();
        fleet.run("retry", "--job-dir", jobDir, "--all-failed").endsWith(0);
        assertThat(fleet.run("status", "--job-dir", jobDir).endsWith(1).stdout())
                .contains("1 pending");
        assertThat(Files.exists(job.inRoot().failed(ShardId.parse(failing)))).isFalse();
        assertThat(Sample.names(job.inRoot().history()))
                .as("the old failure is kept")
                .hasSize(1);

        fleet.run("node", "--root", root, "--once").endsWith(0);

        assertThat(job.inRoot().mergedByDefault()).content().isEqualTo(job.expected());
        assertThat(job.runs()).as("no finished shard ran again").hasSize(4 + 3);
        assertThat(new JobFiles(job.inRoot()).done(ShardId.parse(failing)))
                .hasValueSatisfying(done -> assertThat(done.epoch()).isEqualTo(4));
        fleet.run("status", "--job-dir", jobDir).endsWith(0);
        assertThat(fleet.run("retry", "--job-dir", jobDir, "--all-failed")
                        .endsWith(0)
                        .stderr())
                .contains("nothing to retry");
    }

    private void assertRefused(String jobDir, String shard, String why) {
        assertThat(fleet.run("retry", "--job-dir", jobDir, "--shard-id", shard)
                        .endsWith(2)
                        .stderr())
                .contains(shard, why);
    }

    @Test
    void a_run_with_a_failed_shard_exits_with_2_and_goes_on_after_a_retry() {
        Sample job = sample();
        String[] run = {"run", job.descriptor().toString(), "--job-dir", job.jobDir(), "--json"};

        CaravanProcess failed = fleet.run(run).endsWith(2);

        assertThat(failed.json().at("/state").asText()).isEqualTo("failed");
        assertThat(failed.json().at("/failures/0/shard_id").asText()).isEqualTo(job.shard(2));
        repair();
        fleet.run("retry", "--job-dir", job.jobDir(), "--shard-id", job.shard(2))
                .endsWith(0);
        JsonNode merged = fleet.run(run).endsWith(0).json();
        assertThat(merged.at("/rows").asInt()).isEqualTo(30);
        assertThat(job.inOwnDirectory().mergedByDefault()).content().isEqualTo(job.expected());
    }

    @Test
    void a_node_that_stays_goes_on_with_a_shard_that_is_retried() {
        Sample job = sample();
        String root = job.root().toString();
        fleet.run("submit", job.descriptor().toString(), "--root", root).endsWith(0);
        CaravanProcess node = fleet.start("node", "--root", root);
        node.awaitLog("failed for good");

        repair();
        fleet.run("retry", "--job-dir", job.inRoot().path().toString(), "--all-failed")
                .endsWith(0);

        Await.until("the job is merged", () -> Files.exists(job.inRoot().mergeRecord()), node::toString);
        assertThat(job.inRoot().mergedByDefault()).content().isEqualTo(job.expected());
        assertThat(node.isAlive()).isTrue();
    }
}
