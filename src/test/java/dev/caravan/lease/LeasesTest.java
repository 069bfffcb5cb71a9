package dev.caravan.lease;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.EnumSource.Mode.INCLUDE;

import dev.caravan.FakeNanos;
import dev.caravan.shard.Claim;
import dev.caravan.shard.ClaimStatus;
import dev.caravan.shard.FailureClass;
import dev.caravan.shard.NodeIdentity;
import dev.caravan.shard.Policy;
import dev.caravan.shard.Spent;
import dev.caravan.shard.TestClaims;
import dev.caravan.shard.Timing;
import dev.caravan.store.LeaseStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class LeasesTest {
    private static final Timing TIMING =
            new Timing(Duration.ofSeconds(45), Duration.ofSeconds(10), Duration.ofSeconds(10));
    private static final RetryPace PACE =
            new RetryPace(Duration.ofSeconds(5), Duration.ofSeconds(60), Duration.ofSeconds(10));
    private static final Policy POLICY = new Policy(3, 10, 1, 2, Duration.ZERO, Duration.ZERO);
    private static final Verdict WAIT = new Verdict.Wait();

    @TempDir
    Path directory;

    private final FakeNanos clock = new FakeNanos();
    private Heart heart;
    private LeaseStore store;
    private Leases leases;

    @BeforeEach
    void join() {
        heart = Heart.beating(TIMING, clock);
        store = new LeaseStore(directory);
        leases = new Leases(store, heart, new NodeIdentity("me", "my-host", 1), PACE);
    }

    @AfterEach
    void leave() {
        heart.close();
    }

    private Claim running(String key, long epoch, String node) throws IOException {
        return create(TestClaims.running(key, epoch, node));
    }

    private Claim create(Claim claim) throws IOException {
        assertThat(store.create(claim)).isTrue();
        return claim;
    }

    private Claim end(Claim claim, ClaimStatus status) throws IOException {
        Claim ended = claim.ended(status, status == ClaimStatus.FAILED ? FailureClass.DATA : null, "because");
        store.end(ended);
        return ended;
    }

    private Claim fail(Claim claim, FailureClass failure) throws IOException {
        Claim failed = claim.ended(ClaimStatus.FAILED, failure, "because");
        store.end(failed);
        return failed;
    }

    private Verdict judge(long highest) throws IOException {
        return leases.judge("s", highest, POLICY);
    }

    private void watchFor(int seconds, String... keys) throws IOException {
        for (int passed = 0; passed < seconds; passed += 5) {
            clock.passSeconds(5);
            for (String key : keys) {
                leases.look(key, 1);
            }
        }
    }

    @Test
    void a_key_that_was_never_claimed_is_free_from_epoch_1_on() throws IOException {
        assertThat(judge(0)).isEqualTo(new Verdict.Claimable(1, Spent.NOTHING, List.of(), null));
    }

    @Test
    void what_ended_with_success_is_finished() throws IOException {
        end(running("s", 1, "a"), ClaimStatus.DONE);

        assertThat(judge(1)).isEqualTo(new Verdict.Finished());
    }

    @ParameterizedTest
    @EnumSource(
            value = ClaimStatus.class,
            mode = INCLUDE,
            names = {"RELEASED", "PREEMPTED", "SUPERSEDED"})
    void what_was_given_back_is_free_at_once_and_charges_nothing(ClaimStatus status) throws IOException {
        Spent spent = new Spent(2, 3, 0, 1);
        end(create(TestClaims.running("s", 4, "a", spent, List.of("b", "me"))), status);

        assertThat(judge(4)).isEqualTo(new Verdict.Claimable(5, spent, List.of("b", "me"), null));
    }

    @Test
    void what_was_given_back_with_its_budget_used_up_is_not_tried_again() throws IOException {
        Spent spent = new Spent(4, 0, 0, 0);
        Claim last = end(create(TestClaims.running("s", 5, "a", spent, List.of("a"))), ClaimStatus.RELEASED);

        assertThat(judge(5))
                .isEqualTo(new Verdict.Exhausted(new Verdict.Claimable(6, spent, List.of("a"), null), last));
    }

    @ParameterizedTest
    @EnumSource(FailureClass.class)
    void each_class_of_failure_has_its_own_number_of_retries(FailureClass failure) throws IOException {
        Spent before = Spent.NOTHING;
        for (int retry = 1; retry <= POLICY.retries(failure); retry++) {
            fail(create(TestClaims.running("s", retry, "a", before, List.of())), failure);
            before = before.plus(failure);
            assertThat(judge(retry)).isEqualTo(WAIT);
            clock.passSeconds(60);
            assertThat(judge(retry)).isEqualTo(new Verdict.Claimable(retry + 1, before, List.of("a"), null));
        }
        long epoch = POLICY.retries(failure) + 1;
        Claim last = fail(create(TestClaims.running("s", epoch, "a", before, List.of())), failure);

        assertThat(judge(epoch))
                .isEqualTo(new Verdict.Exhausted(
                        new Verdict.Claimable(epoch + 1, before.plus(failure), List.of("a"), null), last));
    }

    @Test
    void failures_of_one_class_use_up_no_other_budget() throws IOException {
        Spent full = new Spent(3, 10, 2, 0);
        fail(create(TestClaims.running("s", 16, "a", full, List.of())), FailureClass.TIMEOUT);
        judge(16);
        clock.passSeconds(60);

        assertThat(judge(16)).isEqualTo(new Verdict.Claimable(17, new Spent(3, 10, 2, 1), List.of("a"), null));
    }

    @Test
    void a_failed_shard_rests_from_the_moment_this_node_saw_the_failure() throws IOException {
        fail(running("s", 1, "a"), FailureClass.DATA);
        clock.passSeconds(1_000);

        assertThat(judge(1)).isEqualTo(WAIT);
        clock.pass(Duration.ofSeconds(5).minusNanos(1));
        assertThat(judge(1)).isEqualTo(WAIT);
        clock.pass(Duration.ofNanos(1));
        assertThat(judge(1)).isInstanceOf(Verdict.Claimable.class);
    }

    @Test
    void a_shard_that_failed_twice_rests_twice_as_long() throws IOException {
        fail(create(TestClaims.running("s", 2, "a", new Spent(1, 0, 0, 0), List.of())), FailureClass.DATA);
        judge(2);
        clock.pass(Duration.ofSeconds(10).minusNanos(1));
        assertThat(judge(2)).isEqualTo(WAIT);
        clock.pass(Duration.ofNanos(1));
        assertThat(judge(2)).isInstanceOf(Verdict.Claimable.class);
    }

    @Test
    void a_shard_that_failed_here_is_left_to_other_nodes_first() throws IOException {
        fail(running("s", 1, "me"), FailureClass.DATA);
        Leases other = new Leases(store, heart, new NodeIdentity("other", "h", 2), PACE);
        assertThat(judge(1)).isEqualTo(WAIT);
        assertThat(other.judge("s", 1, POLICY)).isEqualTo(WAIT);

        clock.passSeconds(5);
        assertThat(other.judge("s", 1, POLICY)).isInstanceOf(Verdict.Claimable.class);
        clock.pass(Duration.ofSeconds(10).minusNanos(1));
        assertThat(judge(1)).isEqualTo(WAIT);
        clock.pass(Duration.ofNanos(1));
        assertThat(judge(1)).isInstanceOf(Verdict.Claimable.class);
    }

    @Test
    void a_running_claim_is_waited_for_until_it_was_watched_for_a_whole_lease() throws IOException {
        Claim claim = running("s", 1, "a");

        assertThat(judge(1)).isEqualTo(WAIT);
        watchFor(40, "s");
        assertThat(judge(1)).isEqualTo(WAIT);
        watchFor(5, "s");
        assertThat(judge(1)).isEqualTo(new Verdict.Claimable(2, new Spent(0, 1, 0, 0), List.of("a"), claim));
    }

    @Test
    void a_claim_that_beats_is_never_taken_over() throws IOException {
        Claim claim = running("s", 1, "a");
        judge(1);
        for (int beat = 1; beat <= 12; beat++) {
            store.beat(claim, FileTime.fromMillis(beat));
            watchFor(10, "s");
            assertThat(judge(1)).isEqualTo(WAIT);
        }
    }

    @Test
    void without_looking_again_no_claim_is_taken_over() throws IOException {
        running("s", 1, "a");
        judge(1);
        clock.passSeconds(100);

        assertThat(judge(1)).isEqualTo(WAIT);
    }

    @Test
    void losing_the_last_allowed_node_is_a_terminal_failure() throws IOException {
        create(TestClaims.running("s", 1, "a", new Spent(0, 10, 0, 0), List.of()));
        judge(1);
        watchFor(45, "s");

        assertThat(judge(1)).isInstanceOfSatisfying(Verdict.Exhausted.class, exhausted -> {
            assertThat(exhausted.next().spent()).isEqualTo(new Spent(0, 11, 0, 0));
            assertThat(exhausted.last().failureClass()).isEqualTo(FailureClass.INFRA);
            assertThat(exhausted.last().node()).isEqualTo("a");
        });
    }

    @Test
    void a_death_in_a_mass_stall_is_waited_out_and_not_charged() throws IOException {
        Claim claim = running("s", 1, "a");
        running("t", 1, "b");
        running("u", 1, "c");
        for (String key : List.of("s", "t", "u")) {
            leases.look(key, 1);
        }
        watchFor(85, "s", "t", "u");
        assertThat(judge(1)).isEqualTo(WAIT);
        watchFor(5, "s", "t", "u");
        assertThat(judge(1)).isEqualTo(new Verdict.Claimable(2, Spent.NOTHING, List.of(), claim));
    }

    @Test
    void a_death_in_a_mass_stall_is_not_charged_either_once_somebody_beats_again() throws IOException {
        Claim claim = running("s", 1, "a");
        running("t", 1, "b");
        Claim alive = running("u", 1, "c");
        for (String key : List.of("s", "t", "u")) {
            leases.look(key, 1);
        }
        watchFor(50, "s", "t", "u");
        assertThat(judge(1)).isEqualTo(WAIT);
        store.beat(alive, FileTime.fromMillis(1));
        watchFor(5, "s", "t", "u");

        assertThat(judge(1)).isEqualTo(new Verdict.Claimable(2, Spent.NOTHING, List.of(), claim));
        assertThat(leases.judge("u", 1, POLICY)).isEqualTo(WAIT);
    }

    @Test
    void a_claim_that_is_listed_but_not_to_be_opened_yet_is_waited_for() throws IOException {
        assertThat(judge(3)).isEqualTo(WAIT);
    }

    @Test
    void a_claim_without_readable_content_is_taken_over_like_a_dead_one() throws IOException {
        Files.writeString(directory.resolve("s.1.lock"), "{\"key\":");

        assertThat(judge(1)).isEqualTo(WAIT);
        watchFor(40, "s");
        assertThat(judge(1)).isEqualTo(WAIT);
        watchFor(5, "s");
        assertThat(judge(1)).isEqualTo(new Verdict.Claimable(2, Spent.NOTHING, List.of(), null));
    }

    @Test
    void a_higher_epoch_is_judged_by_itself() throws IOException {
        end(running("s", 1, "a"), ClaimStatus.RELEASED);
        assertThat(judge(1)).isInstanceOf(Verdict.Claimable.class);
        running("s", 2, "b");

        assertThat(judge(2)).isEqualTo(WAIT);
    }

    @Test
    void the_winner_of_an_epoch_writes_what_it_knows_of_the_past() throws IOException {
        Claim dead = TestClaims.running("s", 1, "a");
        Spent spent = new Spent(0, 1, 0, 0);
        HeldLease lease = leases.claim(
                        "s", new Verdict.Claimable(2, spent, List.of("a"), dead), token -> "attempts/" + token)
                .orElseThrow();

        Claim written = store.look("s", 2).orElseThrow().claim().orElseThrow();
        assertThat(written).isEqualTo(lease.claim());
        assertThat(written.node()).isEqualTo("me");
        assertThat(written.hostname()).isEqualTo("my-host");
        assertThat(written.status()).isEqualTo(ClaimStatus.RUNNING);
        assertThat(written.spent()).isEqualTo(spent);
        assertThat(written.failedOn()).containsExactly("a");
        assertThat(written.tookOver()).isEqualTo(dead.token());
        assertThat(written.attemptDir()).isEqualTo("attempts/" + written.token());
    }

    @Test
    void who_comes_second_to_an_epoch_gets_no_lease() throws IOException {
        Claim theirs = running("s", 1, "a");

        assertThat(leases.claim("s", (Verdict.Claimable) judge(0), token -> null))
                .isEmpty();
        assertThat(store.look("s", 1).orElseThrow().claim()).isEqualTo(Optional.of(theirs));
    }

    @Test
    void the_end_of_a_claim_needs_to_be_seen_once() throws IOException {
        Claim claim = running("s", 1, "a");
        assertThat(leases.hasSeenEnd("s", 1)).isFalse();
        leases.look("s", 1);
        assertThat(leases.hasSeenEnd("s", 1)).isFalse();
        end(claim, ClaimStatus.FAILED);
        assertThat(leases.hasSeenEnd("s", 1)).isFalse();
        leases.look("s", 1);
        assertThat(leases.hasSeenEnd("s", 1)).isTrue();
        assertThat(leases.hasSeenEnd("s", 2)).isFalse();
        leases.forget("s");
        assertThat(leases.hasSeenEnd("s", 1)).isFalse();
    }
}
