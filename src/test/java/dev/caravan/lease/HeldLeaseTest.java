package dev.caravan.lease;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.caravan.FakeNanos;
import dev.caravan.shard.Claim;
import dev.caravan.shard.ClaimStatus;
import dev.caravan.shard.FailureClass;
import dev.caravan.shard.NodeIdentity;
import dev.caravan.shard.Spent;
import dev.caravan.shard.TestClaims;
import dev.caravan.shard.Timing;
import dev.caravan.store.LeaseStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The beat is driven by hand and the clock by ticks; the heart only keeps the set of leases. */
class HeldLeaseTest {
    private static final Timing TIMING =
            new Timing(Duration.ofSeconds(45), Duration.ofSeconds(10), Duration.ofSeconds(10));

    @TempDir
    Path directory;

    private final FakeNanos clock = new FakeNanos();
    private final AtomicInteger stopped = new AtomicInteger();
    private Heart heart;
    private LeaseStore store;
    private HeldLease lease;

    @BeforeEach
    void claim() throws IOException {
        heart = Heart.beating(TIMING, clock);
        store = new LeaseStore(directory);
        lease = new Leases(
                        store,
                        heart,
                        new NodeIdentity("me", "h", 1),
                        new RetryPace(Duration.ZERO, Duration.ZERO, Duration.ZERO))
                .claim("s", new Verdict.Claimable(1, Spent.NOTHING, List.of(), null), token -> null)
                .orElseThrow();
        lease.onLost(stopped::incrementAndGet);
    }

    @AfterEach
    void close() {
        heart.close();
    }

    private Path file() {
        return directory.resolve("s.1.lock");
    }

    private Claim onDisk() throws IOException {
        return store.look("s", 1).orElseThrow().claim().orElseThrow();
    }

    private void takeOver() throws IOException {
        assertThat(store.create(TestClaims.running("s", 2, "other"))).isTrue();
    }

    @Test
    void each_beat_can_be_seen_and_changes_nothing_else() throws IOException {
        for (int beat = 0; beat < 3; beat++) {
            LeaseStore.Sight before = store.look("s", 1).orElseThrow();
            lease.beat();
            LeaseStore.Sight after = store.look("s", 1).orElseThrow();
            assertThat(after.beat()).isNotEqualTo(before.beat());
            assertThat(after.claim()).isEqualTo(before.claim());
        }
    }

    @Test
    void a_lease_that_beats_is_held_for_as_long_as_it_likes() {
        for (int beat = 0; beat < 20; beat++) {
            clock.passSeconds(34);
            lease.beat();
            lease.judge();
            assertThatCode(lease::requireHeld).doesNotThrowAnyException();
        }
        assertThat(stopped).hasValue(0);
    }

    @Test
    void a_lease_whose_beats_fail_is_given_up_before_others_may_take_it_over() throws IOException {
        clock.passSeconds(10);
        lease.beat();
        Files.delete(file());
        for (int passed = 0; passed < 30; passed += 10) {
            clock.passSeconds(10);
            lease.beat();
            lease.judge();
            assertThat(lease.isHeld()).isTrue();
        }
        assertThat(stopped).hasValue(0);
        clock.passSeconds(5);
        lease.judge();

        assertThat(lease.isHeld()).isFalse();
        assertThat(stopped).hasValue(1);
    }

    @Test
    void a_beat_that_comes_too_late_does_not_revive_the_lease() {
        clock.passSeconds(35);
        lease.beat();
        lease.judge();

        assertThat(lease.isHeld()).isFalse();
        assertThat(stopped).hasValue(1);
    }

    @Test
    void a_process_that_was_frozen_knows_it_before_its_heart_does() {
        clock.passSeconds(600);

        assertThat(lease.isHeld()).isFalse();
        assertThatThrownBy(lease::requireHeld)
                .isInstanceOf(LeaseLostException.class)
                .hasMessageContaining("lease of s epoch 1 is lost: no beat in time; nothing of it is published");
    }

    @Test
    void a_lost_lease_does_not_end_as_done() throws IOException {
        clock.passSeconds(35);
        lease.judge();
        lease.end(ClaimStatus.DONE, null, null);

        assertThat(lease.end()).contains(ClaimStatus.FAILED);
        assertThat(onDisk().status()).isEqualTo(ClaimStatus.FAILED);
        assertThat(onDisk().failureClass()).isEqualTo(FailureClass.INFRA);
        assertThat(onDisk().reason()).isEqualTo("lost: no successful beat for 35000 ms");
    }

    @Test
    void an_end_that_is_the_first_to_learn_of_the_loss_says_why() throws IOException {
        clock.passSeconds(600);
        lease.end(ClaimStatus.DONE, null, null);

        assertThat(onDisk().status()).isEqualTo(ClaimStatus.FAILED);
        assertThat(onDisk().reason()).isEqualTo("lost: no beat in time");
    }

    @Test
    void a_beat_that_finds_a_higher_epoch_stops_the_work() throws IOException {
        takeOver();
        lease.beat();

        assertThat(lease.isHeld()).isFalse();
        assertThat(stopped).hasValue(1);
        assertThatThrownBy(lease::requireHeld)
                .isInstanceOf(LeaseLostException.class)
                .hasMessageContaining("epoch 2 exists: another node took over");
    }

    @Test
    void before_a_result_is_published_higher_epochs_are_looked_for() throws IOException {
        assertThatCode(lease::requireHeld).doesNotThrowAnyException();
        takeOver();

        assertThatThrownBy(lease::requireHeld).isInstanceOf(LeaseLostException.class);
        assertThat(lease.isHeld()).isFalse();
        assertThat(stopped).hasValue(1);
    }

    @Test
    void a_lease_that_was_taken_over_ends_as_superseded() throws IOException {
        takeOver();
        lease.beat();
        lease.end(ClaimStatus.DONE, null, null);

        assertThat(lease.end()).contains(ClaimStatus.SUPERSEDED);
        assertThat(onDisk().status()).isEqualTo(ClaimStatus.SUPERSEDED);
        assertThat(onDisk().reason()).isEqualTo("epoch 2 exists: another node took over");
    }

    @Test
    void a_claim_ends_once_and_as_it_was_ended_first() throws IOException {
        assertThat(lease.end()).isEmpty();
        lease.end(ClaimStatus.FAILED, FailureClass.DATA, "bad row");
        lease.end(ClaimStatus.DONE, null, null);
        clock.passSeconds(600);
        lease.end(ClaimStatus.RELEASED, null, null);

        assertThat(lease.end()).contains(ClaimStatus.FAILED);
        assertThat(onDisk()).isEqualTo(lease.claim().ended(ClaimStatus.FAILED, FailureClass.DATA, "bad row"));
    }

    @Test
    void an_end_that_cannot_be_written_is_an_end_all_the_same() throws IOException {
        Files.delete(file());
        Files.delete(directory);
        lease.end(ClaimStatus.DONE, null, null);
        Files.createDirectory(directory);

        assertThat(lease.end()).contains(ClaimStatus.DONE);
        assertThat(directory).isEmptyDirectory();
    }

    @Test
    void a_loss_is_told_once() {
        clock.passSeconds(35);
        lease.judge();
        lease.judge();
        lease.lose("again");

        assertThat(stopped).hasValue(1);
    }

    @Test
    void who_asks_after_the_loss_is_told_at_once() {
        lease.lose("test");
        AtomicInteger late = new AtomicInteger();
        lease.onLost(late::incrementAndGet);

        assertThat(late).hasValue(1);
    }

    @Test
    void actions_may_ask_the_lease_that_they_are_told_of() {
        lease.onLost(() -> lease.onLost(stopped::incrementAndGet));
        lease.lose("test");

        assertThat(stopped).hasValue(2);
    }
}
