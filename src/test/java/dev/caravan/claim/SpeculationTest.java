package dev.caravan.claim;

import static org.assertj.core.api.Assertions.assertThat;

import dev.caravan.FakeNanos;
import dev.caravan.TestJob;
import dev.caravan.lease.ClaimedShard;
import dev.caravan.lease.Heart;
import dev.caravan.shard.Claim;
import dev.caravan.shard.ClaimStatus;
import dev.caravan.shard.DoneRecord;
import dev.caravan.shard.FailureClass;
import dev.caravan.shard.Ledger;
import dev.caravan.shard.Manifest;
import dev.caravan.shard.NodeIdentity;
import dev.caravan.shard.ShardId;
import dev.caravan.shard.Timing;
import dev.caravan.store.LeaseStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SpeculationTest {
    private static final Timing TIMING = new Timing(Duration.ofHours(9), Duration.ofMinutes(1), Duration.ofMinutes(1));

    @TempDir
    Path folder;

    private final FakeNanos clock = new FakeNanos();
    private TestJob job;
    private ShardClaims slow;
    private ShardClaims idle;
    private ClaimedShard first;

    @BeforeEach
    void a_job_of_which_one_shard_runs() throws IOException {
        job = TestJob.in(folder, 3);
        Files.createDirectories(job.layout.speculative());
        slow = node("slow", true);
        idle = node("idle", true);
        first = slow.claimNext().orElseThrow();
    }

    private ShardClaims node(String id, boolean speculates) {
        Manifest manifest = job.manifest.with(
                job.manifest.execution(), job.manifest.policy().speculating(speculates));
        return new ShardClaims(
                job.files,
                manifest,
                new Heart(TIMING, clock, Clock.systemUTC()),
                new NodeIdentity(id, id, 7),
                SimulatedNode.PACE);
    }

    private DoneRecord done(ClaimedShard work, double seconds) {
        Claim claim = work.lease().claim();
        return new DoneRecord(
                work.shard().id(),
                claim.node(),
                claim.hostname(),
                claim.pid(),
                claim.token(),
                claim.epochOfShard(),
                1,
                "result",
                "command",
                null,
                Ledger.of(1, 1, 0),
                List.of(),
                null,
                1,
                "0",
                List.of(),
                null,
                claim.isSpeculative(),
                seconds,
                "now");
    }

    /** Finishes all that can be claimed, and sees what runs elsewhere. */
    private void finishTheRest(ShardClaims node, double seconds) throws IOException {
        for (var work = node.claimNext(); work.isPresent(); work = node.claimNext()) {
            work.get().publish(done(work.get(), seconds));
            node.finished(work.get());
        }
        node.watch(32, Long.MAX_VALUE);
    }

    private Claim onDisk(LeaseStore claims, ShardId shard) throws IOException {
        return claims.look(shard.toString(), 1).flatMap(LeaseStore.Sight::claim).orElseThrow();
    }

    private ClaimedShard second() throws IOException {
        finishTheRest(idle, 0.1);
        clock.passSeconds(61);
        return idle.speculate().orElseThrow();
    }

    @Test
    void the_shard_that_runs_longest_gets_a_second_attempt_beside_its_epoch() throws IOException {
        byte[] claim = Files.readAllBytes(job.layout.lock(first.lease().claim().key(), 1));

        ClaimedShard second = second();

        assertThat(second.shard()).isEqualTo(first.shard());
        assertThat(second.lease().claim().beside()).isEqualTo(1);
        assertThat(second.attempt().path().getFileName().toString())
                .isEqualTo("0001-speculative-" + second.lease().claim().token());
        assertThat(job.layout.lock(first.lease().claim().key(), 1)).hasBinaryContent(claim);
        assertThat(Files.list(job.layout.locks())).hasSize(3);
        assertThat(idle.speculate()).as("one at a time").isEmpty();
        ShardClaims third = node("third", true);
        finishTheRest(third, 0.1);
        clock.passSeconds(61);
        assertThat(third.speculate()).as("one at a time").isEmpty();
    }

    @Test
    void the_first_result_stands_and_the_other_attempt_is_superseded() throws IOException {
        ClaimedShard second = second();
        assertThat(first.isDoneElsewhere()).isFalse();

        assertThat(second.publish(done(second, 5))).isTrue();

        assertThat(first.isDoneElsewhere()).isTrue();
        assertThat(second.isDoneElsewhere()).isFalse();
        assertThat(first.publish(done(first, 500))).isFalse();
        DoneRecord stands = job.files.done(first.shard().id()).orElseThrow();
        assertThat(stands.token()).isEqualTo(second.lease().claim().token());
        assertThat(stands.speculative()).isTrue();
        assertThat(onDisk(job.files.locks(), first.shard().id()).status()).isEqualTo(ClaimStatus.SUPERSEDED);
        assertThat(onDisk(job.files.speculative(), first.shard().id()).status()).isEqualTo(ClaimStatus.DONE);
    }

    @Test
    void there_is_none_while_a_shard_is_unclaimed_or_was_given_back() throws IOException {
        idle.watch(32, Long.MAX_VALUE);
        ClaimedShard quick = idle.claimNext().orElseThrow();
        quick.publish(done(quick, 0.1));
        idle.finished(quick);
        clock.passSeconds(61);
        assertThat(idle.speculate()).as("a shard is unclaimed").isEmpty();

        ShardClaims third = node("third", true);
        ClaimedShard givenBack = third.claimNext().orElseThrow();
        givenBack.lease().end(ClaimStatus.PREEMPTED, null, "leaves");
        third.finished(givenBack);
        idle.watch(32, 0);
        assertThat(idle.speculate()).as("a shard was given back").isEmpty();

        finishTheRest(idle, 0.1);
        assertThat(idle.speculate()).isPresent();
    }

    @Test
    void a_shard_that_ended_well_is_not_waited_for_until_its_record_is_listed() throws IOException {
        ShardClaims third = node("third", true);
        ClaimedShard other = third.claimNext().orElseThrow();
        finishTheRest(idle, 0.1);
        other.publish(done(other, 0.1));
        Files.delete(job.layout.done(other.shard().id())); // a name that comes late
        idle.watch(32, Long.MAX_VALUE);
        clock.passSeconds(61);

        assertThat(idle.speculate())
                .hasValueSatisfying(second -> assertThat(second.shard()).isEqualTo(first.shard()));
    }

    @Test
    void a_shard_must_have_run_half_as_long_again_as_the_median_and_for_a_heartbeat() throws IOException {
        finishTheRest(idle, 600);

        clock.passSeconds(899);
        assertThat(idle.speculate()).isEmpty();
        clock.passSeconds(2);
        assertThat(idle.speculate()).isPresent();
    }

    @Test
    void a_shard_that_has_run_for_less_than_a_heartbeat_is_left_alone() throws IOException {
        finishTheRest(idle, 0.001);

        clock.passSeconds(59);
        assertThat(idle.speculate()).isEmpty();
    }

    @Test
    void what_a_second_attempt_fails_of_uses_no_budget_and_is_not_tried_again() throws IOException {
        ClaimedShard second = second();

        for (int i = 0; i <= TestJob.POLICY.maxRetries(); i++) {
            assertThat(second.fail(FailureClass.DATA, "exit code 3", true)).isEmpty();
        }
        idle.finished(second);

        assertThat(job.files.failedShards()).isEmpty();
        assertThat(idle.speculate()).isEmpty();
        assertThat(first.publish(done(first, 500))).isTrue();
    }

    @Test
    void a_second_attempt_whose_node_left_is_made_anew() throws IOException {
        ClaimedShard second = second();
        second.lease().end(ClaimStatus.PREEMPTED, null, "the node leaves");
        idle.finished(second);

        assertThat(idle.speculate()).hasValueSatisfying(again -> {
            assertThat(again.lease().claim().epoch()).isEqualTo(2);
            assertThat(again.lease().claim().beside()).isEqualTo(1);
        });
    }

    @Test
    void a_second_attempt_says_nothing_of_a_shard_that_has_failed_for_good() throws IOException {
        ClaimedShard second = second();
        first.fail(FailureClass.DATA, "exit code 3", true);

        assertThat(second.publish(done(second, 5))).isFalse();
        assertThat(job.files.done(first.shard().id())).isEmpty();
        assertThat(second.lease().end()).contains(ClaimStatus.SUPERSEDED);
    }

    @Test
    void a_job_that_does_not_ask_for_it_has_none() throws IOException {
        ShardClaims other = node("other", false);
        finishTheRest(other, 0.1);
        clock.passSeconds(61);

        assertThat(other.speculate()).isEmpty();
    }
}
