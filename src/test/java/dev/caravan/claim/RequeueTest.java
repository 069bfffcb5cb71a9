package dev.caravan.claim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.caravan.CaravanException;
import dev.caravan.TestJob;
import dev.caravan.lease.ClaimedShard;
import dev.caravan.shard.Claim;
import dev.caravan.shard.ClaimStatus;
import dev.caravan.shard.FailedRecord;
import dev.caravan.shard.FailureClass;
import dev.caravan.shard.NodeIdentity;
import dev.caravan.shard.ShardId;
import dev.caravan.shard.Spent;
import dev.caravan.shard.TestClaims;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RequeueTest {
    @TempDir
    Path folder;

    private TestJob job;
    private Requeue requeue;

    @BeforeEach
    void job() throws IOException {
        job = TestJob.in(folder, 4);
        requeue = new Requeue(job.files, new NodeIdentity("cli", "h", 1));
    }

    private ShardId failForGood(int index) throws IOException {
        Claim claim = TestClaims.running(job.id(index).toString(), 2, "a", new Spent(1, 0, 0, 0), List.of("a"));
        job.files.locks().create(claim);
        Claim failed = claim.ended(ClaimStatus.FAILED, FailureClass.DATA, "bad row");
        job.files.locks().end(failed);
        job.files.publishFailed(FailedRecord.of(job.id(index), FailureClass.DATA, failed, failed.spentAfter(), "now"));
        return job.id(index);
    }

    private void assertRefused(ShardId shard, String message) throws IOException {
        Map<String, Long> before = job.files.locks().highestEpochs();
        ShardId innocent = failForGood(3);
        assertThatThrownBy(() -> requeue.requeue(List.of(innocent, shard)))
                .isInstanceOf(CaravanException.class)
                .hasMessageContaining(message);
        assertThat(job.files.failed(innocent)).isPresent();
        assertThat(job.files.locks().highestEpochs())
                .containsAllEntriesOf(before)
                .containsEntry(innocent.toString(), 2L);
    }

    @Test
    void a_failed_shard_has_a_new_budget_and_is_worked_on_again() throws IOException {
        ShardId shard = failForGood(1);
        requeue.requeue(List.of(shard));

        assertThat(job.files.failed(shard)).isEmpty();
        assertThat(job.layout.history(shard, 2)).content().contains("bad row");
        Claim ended = job.files
                .locks()
                .look(shard.toString(), 3)
                .orElseThrow()
                .claim()
                .orElseThrow();
        assertThat(ended.status()).isEqualTo(ClaimStatus.RELEASED);
        assertThat(ended.spent()).isEqualTo(Spent.NOTHING);
        SimulatedNode node = new SimulatedNode("a", job);
        ClaimedShard claimed;
        do {
            claimed = node.claim().orElseThrow();
        } while (!claimed.shard().id().equals(shard));
        assertThat(claimed.lease().claim().epoch()).isEqualTo(4);
        assertThat(claimed.lease().claim().spent()).isEqualTo(Spent.NOTHING);
    }

    @Test
    void a_node_that_knew_of_the_failure_works_on_the_shard_again_too() throws IOException {
        for (int i = 0; i < 4; i++) {
            failForGood(i);
        }
        SimulatedNode node = new SimulatedNode("a", job);
        node.claims.refresh(0);
        assertThat(node.claims.isSettled()).isTrue();
        requeue.requeue(List.of(job.id(2)));
        while (node.claims.isSettled()) {
            node.claims.refresh(0); // a listing may follow the last one only after a while
        }
        assertThat(node.claim().orElseThrow().shard().id()).isEqualTo(job.id(2));
    }

    @Test
    void all_failed_are_those_that_are_not_done() throws IOException {
        ShardId failed = failForGood(2);
        ShardId other = failForGood(0);
        ShardId done = failForGood(1);
        job.files.publishDone(SimulatedNode.done(done, "b", "t"));

        assertThat(requeue.allFailed()).containsExactly(other, failed);
    }

    @Test
    void a_shard_that_waits_for_its_retry_may_be_given_a_new_budget() throws IOException {
        Claim claim = TestClaims.running(job.id(0).toString(), 1, "a");
        job.files.locks().create(claim);
        job.files.locks().end(claim.ended(ClaimStatus.FAILED, FailureClass.DATA, "bad row"));
        requeue.requeue(List.of(job.id(0)));

        assertThat(job.files.locks().highestEpochs()).containsEntry(job.id(0).toString(), 2L);
    }

    @Test
    void an_unknown_shard_is_refused() throws IOException {
        assertRefused(new ShardId(0, 99), "there is no shard part-00000-of-00099 in " + job.layout.path());
    }

    @Test
    void a_shard_that_is_done_is_refused_even_if_it_failed_too() throws IOException {
        ShardId done = failForGood(0);
        job.files.publishDone(SimulatedNode.done(done, "b", "t"));

        assertRefused(done, done + " is done: there is nothing to retry");
    }

    @Test
    void a_shard_that_runs_is_refused() throws IOException {
        job.files.locks().create(TestClaims.running(job.id(0).toString(), 5, "node-x"));

        assertRefused(job.id(0), job.id(0) + " is running on node-x (epoch 5)");
    }

    @Test
    void a_shard_that_nobody_has_claimed_is_refused() throws IOException {
        assertRefused(job.id(0), job.id(0) + " is pending: it has not failed");
    }

    @Test
    void a_shard_that_is_named_twice_is_requeued_once_or_refused_but_never_lost() throws IOException {
        ShardId shard = failForGood(0);
        assertThatThrownBy(() -> requeue.requeue(List.of(shard, shard)))
                .isInstanceOf(CaravanException.class)
                .hasMessageContaining("was claimed a moment ago");
        assertThat(job.files.failed(shard)).isEmpty();
        assertThat(job.files.locks().highestEpochs()).containsEntry(shard.toString(), 3L);
    }
}
