package dev.caravan.lease;

import static org.assertj.core.api.Assertions.assertThat;

import dev.caravan.shard.Timing;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class LeaseHealthTest {
    private static final Timing TIMING =
            new Timing(Duration.ofSeconds(45), Duration.ofSeconds(10), Duration.ofSeconds(10));
    private static final long START = -5_000_000_000L;

    private final LeaseHealth health = new LeaseHealth(TIMING, START);

    private static long at(double seconds) {
        return START + Math.round(seconds * 1e9);
    }

    @Test
    void a_lease_without_beats_is_lost_a_margin_before_others_may_take_it_over() {
        assertThat(health.isLost(at(35) - 1)).isFalse();
        assertThat(health.isLost(at(35))).isTrue();
    }

    @Test
    void a_beat_counts_from_the_moment_it_was_begun() {
        health.beat(at(20), at(20));

        assertThat(health.sinceLastBeat(at(30))).isEqualTo(10_000_000_000L);
        assertThat(health.isLost(at(55) - 1)).isFalse();
        assertThat(health.isLost(at(55))).isTrue();
    }

    @Test
    void a_beat_that_overtook_another_takes_nothing_back() {
        health.beat(at(20), at(20));
        health.beat(at(10), at(10));

        assertThat(health.isLost(at(54))).isFalse();
    }

    @Test
    void a_beat_after_the_loss_revives_nothing() {
        assertThat(health.isLost(at(35))).isTrue();
        health.beat(at(36), at(36));

        assertThat(health.isLost(at(37))).isTrue();
        assertThat(health.isLost(at(0))).isTrue();
    }

    @Test
    void a_beat_that_begins_too_late_revives_nothing_even_if_nobody_has_judged_yet() {
        health.beat(at(35), at(35));

        assertThat(health.isLost(at(36))).isTrue();
    }

    @Test
    void a_beat_begun_in_time_and_answered_too_late_finds_the_lease_lost() {
        health.beat(at(30), at(36));

        assertThat(health.isLost(at(36))).isTrue();
    }

    @Test
    void a_lease_that_was_given_up_stays_lost() {
        health.lose();
        health.beat(at(1), at(1));

        assertThat(health.isLost(at(1))).isTrue();
    }

    @Test
    void beats_are_late_after_two_heartbeats() {
        assertThat(health.isLate(at(20))).isFalse();
        assertThat(health.isLate(at(20) + 1)).isTrue();
        health.beat(at(21), at(21));
        assertThat(health.isLate(at(41))).isFalse();
    }
}
