package dev.caravan.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.caravan.shard.AttemptRecord;
import dev.caravan.shard.AttemptStatus;
import dev.caravan.shard.Claim;
import dev.caravan.shard.ClaimStatus;
import dev.caravan.shard.DoneRecord;
import dev.caravan.shard.ShardId;
import dev.caravan.store.JobFiles;
import dev.caravan.store.Json;
import dev.caravan.store.Layout;
import dev.caravan.store.LeaseStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A shard whose work stands still on a node that lives is done by another, and one result counts. */
class SpeculationIT {
    private static final String FIRST = "0001-[!s]*";
    private static final String SECOND = "0001-speculative-*";

    @RegisterExtension
    final Fleet fleet = new Fleet();

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void of_two_attempts_at_a_shard_one_result_counts_and_the_other_attempt_is_ended(boolean secondWins)
            throws IOException {
        Path scratch = Files.createDirectory(fleet.folder().resolve("scratch"));
        fleet.with("exec.scratch", scratch.toString())
                .with("node.prefetch", "0"); // so that epoch 1 is the first attempt
        Sample job = new Sample(fleet.folder(), "tail", 40, 4)
                .written(
                        """
                case "$3 ${4##*/}" in
                    part-00002-*' '%s) kill -STOP $$;;
                    part-00002-*' '%s) while [ ! -e "$5/gate" ]; do sleep 0.05; done;;
                esac
                """.formatted(secondWins ? FIRST : SECOND, secondWins ? SECOND : FIRST),
                        "policy: {speculate: true}");
        String root = job.root().toString();
        String shard = job.shard(2);
        fleet.run("submit", job.descriptor().toString(), "--root", root).endsWith(0);
        CaravanProcess a = fleet.start("node", "--root", root, "--once");
        CaravanProcess b = fleet.start("node", "--root", root, "--once");
        Await.until(
                "both attempts run",
                () -> job.hasRun(shard, "0001-speculative-") && job.runs().size() == 5,
                () -> a + "\n" + b);
        JobFiles files = new JobFiles(job.inRoot());
        Claim first = Sample.claim(job.inRoot(), shard, 1).orElseThrow();
        Claim second = claim(files.speculative(), shard);
        long winner = pidOf(job, shard, secondWins);
        long loser = pidOf(job, shard, !secondWins);
        assertThat(second.pid()).as("the other node").isNotEqualTo(first.pid());
        assertThat(Sample.isGone(loser)).isFalse();
        JsonNode status = fleet.run("status", "--job-dir", job.inRoot().path().toString(), "--all", "--json")
                .json();
        assertThat(status.at("/all_shards/2/state").asText()).isEqualTo("running");
        assertThat(status.at("/all_shards/2/note").asText()).endsWith("; speculative attempt on " + second.node());

        Sample.write(fleet.folder().resolve("gate"), "");

        a.endsWith(0);
        b.endsWith(0);
        assertThat(Sample.isGone(winner)).isTrue();
        assertThat(Sample.isGone(loser))
                .as("the other attempt's process is gone")
                .isTrue();
        assertThat(job.inRoot().mergedByDefault()).content().isEqualTo(job.expected());
        DoneRecord done = files.done(ShardId.parse(shard)).orElseThrow();
        assertThat(done.token()).isEqualTo((secondWins ? second : first).token());
        assertThat(done.speculative()).isEqualTo(secondWins);
        assertThat(done.epoch()).isEqualTo(1);
        ClaimStatus won = ClaimStatus.DONE;
        ClaimStatus lost = ClaimStatus.SUPERSEDED;
        assertThat(claim(files.locks(), shard).status()).isEqualTo(secondWins ? lost : won);
        assertThat(claim(files.speculative(), shard).status()).isEqualTo(secondWins ? won : lost);
        assertThat(attempt(job, first).status()).isEqualTo(secondWins ? AttemptStatus.SUPERSEDED : AttemptStatus.DONE);
        assertThat(attempt(job, second).status()).isEqualTo(secondWins ? AttemptStatus.DONE : AttemptStatus.SUPERSEDED);
        assertThat(job.runs()).as("no attempt but these").hasSize(5);
        assertThat(scratch).isEmptyDirectory();
        String jobDir = job.inRoot().path().toString();
        assertThat(fleet.run("verify", "--job-dir", jobDir).endsWith(0).stdout())
                .contains("4 of 4 claims seen")
                .endsWith("PASS\n");
        fleet.run("doctor", "--job-dir", jobDir).endsWith(0);
        assertThat(job.inRoot().report())
                .content()
                .satisfies(page -> assertThat(page.contains("(speculative)")).isEqualTo(secondWins));
    }

    private static long pidOf(Sample job, String shard, boolean speculative) {
        return job.runs().stream()
                .filter(run -> run.startsWith(shard + " ") && run.contains("-speculative-") == speculative)
                .mapToLong(run -> Long.parseLong(run.split(" ")[1]))
                .findFirst()
                .orElseThrow();
    }

    private static Claim claim(LeaseStore claims, String shard) throws IOException {
        return claims.look(shard, 1).flatMap(LeaseStore.Sight::claim).orElseThrow();
    }

    private static AttemptRecord attempt(Sample job, Claim claim) throws IOException {
        Layout.Attempt attempt = new Layout.Attempt(job.inRoot().resolve(claim.attemptDir()));
        return Json.parse(Files.readAllBytes(attempt.record()), AttemptRecord.class);
    }
}
