package dev.caravan.claim;

import static org.assertj.core.api.Assertions.assertThat;

import dev.caravan.FakeNanos;
import dev.caravan.TestJob;
import dev.caravan.lease.ClaimedShard;
import dev.caravan.lease.Heart;
import dev.caravan.shard.Claim;
import dev.caravan.shard.ClaimStatus;
import dev.caravan.shard.FailedRecord;
import dev.caravan.shard.FailureClass;
import dev.caravan.shard.NodeIdentity;
import dev.caravan.shard.ShardId;
import dev.caravan.shard.Spent;
import dev.caravan.shard.TestClaims;
import dev.caravan.store.LeaseStore;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(120)
class ShardClaimsTest {
    private static final Duration LOOK = SimulatedNode.TIMING.lookEvery();

    @TempDir
    Path folder;

    private static Claim claimOf(TestJob job, ShardId shard, long epoch) throws IOException {
        return new LeaseStore(job.layout.locks())
                .look(shard.toString(), epoch)
                .orElseThrow()
                .claim()
                .orElseThrow();
    }

    /** Each node works until the job is settled. @return what each node worked on */
    private static List<List<ShardId>> drain(List<SimulatedNode> nodes) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(nodes.size());
        try {
            CyclicBarrier start = new CyclicBarrier(nodes.size());
            List<Callable<List<ShardId>>> work = new ArrayList<>();
            for (SimulatedNode node : nodes) {
                work.add(() -> {
                    start.await();
                    List<ShardId> worked = new ArrayList<>();
                    while (!node.claims.isSettled()) {
                        Optional<ClaimedShard> claimed = node.claim();
                        if (claimed.isPresent()) {
                            worked.add(claimed.get().shard().id());
                            node.finish(claimed.get());
                        } else {
                            Thread.onSpinWait();
                            node.claims.refresh(0);
                        }
                    }
                    return worked;
                });
            }
            List<List<ShardId>> worked = new ArrayList<>();
            for (Future<List<ShardId>> node : threads.invokeAll(work)) {
                worked.add(node.get());
            }
            return worked;
        } finally {
            threads.shutdownNow();
        }
    }

    @Test
    void three_nodes_work_through_200_shards_without_a_double_and_without_a_loss() throws Exception {
        TestJob job = TestJob.in(folder, 200);
        List<List<ShardId>> worked =
                drain(List.of(new SimulatedNode("a", job), new SimulatedNode("b", job), new SimulatedNode("c", job)));
        List<ShardId> all = worked.stream().flatMap(List::stream).toList();

        assertThat(all).hasSize(200).doesNotHaveDuplicates();
        assertThat(job.files.doneShards()).hasSize(200);
        assertThat(worked).allMatch(shards -> !shards.isEmpty());
        for (ShardId shard : all) {
            assertThat(claimOf(job, shard, 1).status()).isEqualTo(ClaimStatus.DONE);
        }
    }

    @Test
    void a_shard_that_was_finished_between_listing_and_claim_is_not_worked_on() throws IOException {
        TestJob job = TestJob.in(folder, 2);
        SimulatedNode node = new SimulatedNode("a", job);
        ShardId first = node.claim().orElseThrow().shard().id();
        ShardId second = job.id(1 - first.index());
        job.files.publishDone(SimulatedNode.done(second, "other", "t"));

        assertThat(node.claim()).isEmpty();
        assertThat(claimOf(job, second, 1).status()).isEqualTo(ClaimStatus.SUPERSEDED);
        assertThat(node.claims.doneCount()).isEqualTo(1);
    }

    @Test
    void a_shard_that_failed_for_good_between_listing_and_claim_is_not_worked_on() throws IOException {
        TestJob job = TestJob.in(folder, 2);
        SimulatedNode node = new SimulatedNode("a", job);
        ShardId first = node.claim().orElseThrow().shard().id();
        ShardId second = job.id(1 - first.index());
        job.files.publishFailed(new FailedRecord(second, "b", "h", 1, FailureClass.DATA, "bad", 2, "x", "now"));

        assertThat(node.claim()).isEmpty();
        assertThat(claimOf(job, second, 1).status()).isEqualTo(ClaimStatus.RELEASED);
    }

    @Test
    void a_claim_that_ended_as_done_is_final_where_the_result_cannot_be_seen_yet() throws IOException {
        TestJob job = TestJob.in(folder, 1);
        Claim claim = TestClaims.running(job.id(0).toString(), 1, "other");
        job.files.locks().create(claim);
        job.files.locks().end(claim.ended(ClaimStatus.DONE, null, null));

        assertThat(new SimulatedNode("a", job).claim()).isEmpty();
        assertThat(job.files.locks().highestEpochs()).containsEntry(job.id(0).toString(), 1L);
    }

    @Test
    void a_budget_that_is_used_up_without_a_record_makes_one_terminal_failure() throws Exception {
        TestJob job = TestJob.in(folder, 1);
        Claim last = TestClaims.running(job.id(0).toString(), 2, "gone", new Spent(1, 0, 0, 0), List.of("gone"));
        job.files.locks().create(last);
        job.files.locks().end(last.ended(ClaimStatus.FAILED, FailureClass.DATA, "bad row"));
        List<List<ShardId>> worked =
                drain(List.of(new SimulatedNode("a", job), new SimulatedNode("b", job), new SimulatedNode("c", job)));

        assertThat(worked).allMatch(List::isEmpty);
        FailedRecord failed = job.files.failed(job.id(0)).orElseThrow();
        assertThat(failed.failureClass()).isEqualTo(FailureClass.DATA);
        assertThat(failed.reason()).isEqualTo("bad row");
        assertThat(failed.node()).isEqualTo("gone");
        assertThat(failed.attempts()).isEqualTo(2);
        assertThat(claimOf(job, job.id(0), 3).status()).isEqualTo(ClaimStatus.RELEASED);
    }

    @Test
    void a_shard_that_this_node_works_on_is_not_claimed_by_it_again() throws IOException {
        TestJob job = TestJob.in(folder, 3);
        SimulatedNode node = new SimulatedNode("a", job);
        Set<ShardId> claimed = new HashSet<>();
        for (int i = 0; i < 3; i++) {
            claimed.add(node.claim().orElseThrow().shard().id());
        }
        assertThat(claimed).hasSize(3);
        assertThat(node.claim()).isEmpty();
        assertThat(new SimulatedNode("b", job).claim()).isEmpty();
    }

    @Test
    void what_was_given_back_is_claimed_in_the_next_epoch_after_all_that_is_new() throws IOException {
        TestJob job = TestJob.in(folder, 3);
        SimulatedNode other = new SimulatedNode("b", job);
        ClaimedShard released = other.claim().orElseThrow();
        released.lease().end(ClaimStatus.RELEASED, null, null);
        SimulatedNode node = new SimulatedNode("a", job);

        assertThat(node.claim().orElseThrow().lease().claim().epoch()).isEqualTo(1);
        assertThat(node.claim().orElseThrow().lease().claim().epoch()).isEqualTo(1);
        ClaimedShard last = node.claim().orElseThrow();
        assertThat(last.shard()).isEqualTo(released.shard());
        assertThat(last.lease().claim().epoch()).isEqualTo(2);
    }

    @Test
    void a_dead_nodes_shard_is_claimed_before_those_that_nobody_has_had() throws IOException {
        assertClaimsDeadShardFirst(ShardClaims::claimNext);
    }

    @Test
    void a_node_with_a_shard_in_work_claims_a_dead_nodes_shard_ahead_of_others() throws IOException {
        assertClaimsDeadShardFirst(claims -> claims.claimAhead(0));
    }

    private interface Way {
        Optional<ClaimedShard> claim(ShardClaims claims) throws IOException;
    }

    private void assertClaimsDeadShardFirst(Way way) throws IOException {
        TestJob job = TestJob.in(folder, 20);
        FakeNanos clock = new FakeNanos();
        ShardClaims claims = new ShardClaims(
                job.files,
                job.manifest,
                new Heart(SimulatedNode.TIMING, clock, Clock.systemUTC()),
                new NodeIdentity("a", "h", 7),
                SimulatedNode.PACE);
        claims.claimNext().orElseThrow();
        ShardId held = job.id(13);
        job.files.locks().create(TestClaims.running(held.toString(), 1, "dead"));
        Duration lease = SimulatedNode.TIMING.lease();
        for (Duration watched = Duration.ZERO; watched.compareTo(lease) <= 0; watched = watched.plus(LOOK)) {
            claims.watch(32, 0);
            clock.pass(LOOK);
        }

        ClaimedShard next = way.claim(claims).orElseThrow();
        assertThat(next.shard().id()).isEqualTo(held);
        assertThat(next.lease().claim().epoch()).isEqualTo(2);
    }

    @Test
    void nodes_begin_at_places_of_their_own() throws IOException {
        Set<Integer> places = new HashSet<>();
        for (int i = 0; i < 12; i++) {
            TestJob job = TestJob.in(folder.resolve("node" + i), 50);
            places.add(new SimulatedNode("host-" + i * 7919, job)
                    .claim()
                    .orElseThrow()
                    .shard()
                    .id()
                    .index());
        }
        assertThat(places).hasSizeGreaterThan(7);
    }

    /** @return listings, and other operations for each shard, of one node that works through a job alone */
    private int[] costOf(int shards) throws IOException {
        TestJob job = TestJob.in(folder.resolve("of" + shards), shards);
        CountingDirectory directory = new CountingDirectory();
        SimulatedNode node = new SimulatedNode("a", job, directory);
        for (Optional<ClaimedShard> work = node.claim(); work.isPresent(); work = node.claim()) {
            node.finish(work.get());
        }
        assertThat(job.files.doneShards()).hasSize(shards);
        int operations = directory.reads.get() + directory.others.get();
        assertThat(operations % shards).isZero();
        return new int[] {directory.listings.get(), operations / shards};
    }

    @Test
    void the_cost_of_a_claim_does_not_grow_with_the_number_of_shards() throws IOException {
        int[] few = costOf(10);
        int[] many = costOf(300);

        assertThat(many[1]).isEqualTo(few[1]).isLessThan(10);
        assertThat(many[0]).isEqualTo(few[0]).isLessThanOrEqualTo(6); // one pass at the start, one at the end
    }

    @Test
    void watching_is_bounded() throws IOException {
        TestJob job = TestJob.in(folder, 100);
        for (int i = 0; i < 100; i++) {
            job.files.locks().create(TestClaims.running(job.id(i).toString(), 1, "n" + i));
        }
        CountingDirectory directory = new CountingDirectory();
        SimulatedNode node = new SimulatedNode("a", job, directory);
        node.claims.watch(32, 0);
        assertThat(directory.reads).hasValue(32);
        assertThat(directory.listings).hasValue(3);
        node.claims.watch(32, Long.MAX_VALUE);
        assertThat(directory.reads).hasValue(64);
        assertThat(directory.listings).hasValue(3);
    }

    @Test
    void a_node_does_not_watch_its_own_claims() throws IOException {
        TestJob job = TestJob.in(folder, 2);
        CountingDirectory directory = new CountingDirectory();
        SimulatedNode node = new SimulatedNode("a", job, directory);
        ClaimedShard work = node.claim().orElseThrow();
        node.claim().orElseThrow();
        int reads = directory.reads.get();
        node.claims.watch(32, 0);
        assertThat(directory.reads).hasValue(reads);
        node.claims.finished(work);
        node.claims.watch(32, 0);
        assertThat(directory.reads).hasValue(reads + 1);
    }

    @Test
    void an_end_that_was_seen_is_not_looked_at_again() throws IOException {
        TestJob job = TestJob.in(folder, 2);
        Claim ended = TestClaims.running(job.id(0).toString(), 1, "n");
        job.files.locks().create(ended);
        job.files.locks().end(ended.ended(ClaimStatus.FAILED, FailureClass.DATA, "bad"));
        job.files.locks().create(TestClaims.running(job.id(1).toString(), 1, "n"));
        CountingDirectory directory = new CountingDirectory();
        SimulatedNode node = new SimulatedNode("a", job, directory);
        node.claims.watch(32, 0);
        assertThat(directory.reads).hasValue(2);
        node.claims.watch(32, Long.MAX_VALUE);
        assertThat(directory.reads).hasValue(3);
    }

    @Test
    void a_shard_is_claimed_ahead_only_while_one_more_is_left_for_each_that_is_worked_on() throws IOException {
        TestJob job = TestJob.in(folder, 6);
        SimulatedNode a = new SimulatedNode("a", job);
        SimulatedNode b = new SimulatedNode("b", job);
        a.claim().orElseThrow();
        ClaimedShard worked = b.claim().orElseThrow();
        a.claims.refresh(0); // 4 left, 2 worked on

        ClaimedShard ahead = a.claims.claimAhead(0).orElseThrow();
        assertThat(ahead.lease().claim().epoch()).isEqualTo(1);
        assertThat(a.claims.claimAhead(1)).as("a second one leaves enough").isPresent();
        assertThat(a.claims.claimAhead(2)).as("a third one does not").isEmpty();
        assertThat(a.claims.leavesEnoughFor(2)).isTrue();

        b.finish(worked);
        b.claim().orElseThrow();
        a.claims.refresh(0);
        assertThat(a.claims.leavesEnoughFor(2)).as("1 left, 2 worked on").isFalse();
        assertThat(a.claims.hasNeverClaimed()).isTrue();
    }

    @Test
    void what_somebody_gave_back_is_never_claimed_ahead() throws IOException {
        TestJob job = TestJob.in(folder, 4);
        SimulatedNode a = new SimulatedNode("a", job);
        SimulatedNode b = new SimulatedNode("b", job);
        ClaimedShard released = b.claim().orElseThrow();
        released.lease().end(ClaimStatus.RELEASED, null, "for whoever is idle");
        b.claims.finished(released);
        a.claims.refresh(0);

        Optional<ClaimedShard> ahead = a.claims.claimAhead(0);

        assertThat(ahead.orElseThrow().shard().id())
                .isNotEqualTo(released.shard().id());
        assertThat(a.claims.claimAhead(1)).isPresent();
        assertThat(a.claims.claimAhead(2)).isEmpty();
        assertThat(a.claim()).as("the last one").isPresent();
        assertThat(a.claim().orElseThrow().shard().id())
                .isEqualTo(released.shard().id());
    }

    @Test
    void results_that_a_job_began_with_are_not_taken_for_shards_that_are_left() throws IOException {
        TestJob job = TestJob.in(folder, 4);
        for (int shard = 0; shard < 3; shard++) {
            job.files.publishDone(SimulatedNode.done(job.id(shard), "earlier", "t"));
        }
        SimulatedNode a = new SimulatedNode("a", job);
        a.claims.refresh(0);
        assertThat(a.claims.hasNeverClaimed()).isTrue();

        a.claim().orElseThrow();

        assertThat(a.claims.hasNeverClaimed()).isFalse();
        assertThat(a.claims.leavesEnoughFor(1))
                .as("0 left, none but the own one")
                .isTrue();
        assertThat(a.claims.leavesEnoughFor(0)).isFalse();
    }
}
