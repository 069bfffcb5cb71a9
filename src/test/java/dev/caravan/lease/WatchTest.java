package dev.caravan.lease;

import static org.assertj.core.api.Assertions.assertThat;

import dev.caravan.FakeNanos;
import dev.caravan.shard.Claim;
import dev.caravan.shard.ClaimStatus;
import dev.caravan.shard.TestClaims;
import dev.caravan.shard.Timing;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class WatchTest {
    private static final int LEASE = 45;
    private static final int LOOK = 5;

    private final FakeNanos clock = new FakeNanos();
    private final Watch watch =
            new Watch(new Timing(Duration.ofSeconds(LEASE), Duration.ofSeconds(10), Duration.ofSeconds(10)));

    /** What is on the disk: the claims of other nodes and their beat counters. */
    private final Map<String, Claim> claims = new LinkedHashMap<>();

    private final Map<String, Integer> beats = new LinkedHashMap<>();

    private void claim(String key, String node) {
        claims.put(key, TestClaims.running(key, 1, node));
    }

    private void beat(String key) {
        beats.merge(key, 1, Integer::sum);
    }

    private void lookAtAll() {
        claims.forEach((key, claim) ->
                watch.sight(key, claim.epoch(), Optional.of(claim), beats.getOrDefault(key, 0), now(), now()));
    }

    private long now() {
        return clock.getAsLong();
    }

    /** Time passes while all claims are looked at regularly, at its start and its end too. */
    private void watchFor(int seconds) {
        lookAtAll();
        for (int passed = 0; passed < seconds; passed += LOOK) {
            clock.passSeconds(LOOK);
            lookAtAll();
        }
    }

    private boolean isDead(String key) {
        return watch.isDead(key, now());
    }

    @Test
    void a_claim_is_dead_once_it_was_watched_unchanged_for_a_whole_lease() {
        claim("s", "a");

        watchFor(LEASE - LOOK);
        assertThat(isDead("s")).isFalse();
        watchFor(LOOK);
        assertThat(isDead("s")).isTrue();
    }

    @Test
    void a_node_that_has_just_come_knows_of_no_death() {
        claim("s", "a");
        clock.passSeconds(10_000);
        lookAtAll();

        assertThat(isDead("s")).isFalse();
        assertThat(isDead("never seen")).isFalse();
    }

    @Test
    void a_gap_in_watching_begins_the_watch_anew() {
        claim("s", "a");
        watchFor(LEASE - LOOK);
        clock.passSeconds(LEASE / 2 + 1);
        lookAtAll();
        assertThat(isDead("s")).isFalse();

        watchFor(LEASE - LOOK);
        assertThat(isDead("s")).isFalse();
        watchFor(LOOK);
        assertThat(isDead("s")).isTrue();
    }

    @Test
    void a_lease_that_ends_after_the_last_look_was_not_watched_to_its_end() {
        claim("s", "a");
        watchFor(LEASE - LOOK);
        clock.passSeconds(LOOK);

        assertThat(isDead("s")).isFalse();
    }

    @Test
    void a_look_that_took_long_says_nothing_of_the_time_after_it_was_asked() {
        claim("s", "a");
        watchFor(LEASE - LOOK);
        long asked = now();
        clock.passSeconds(LOOK);
        watch.sight("s", 1, Optional.of(claims.get("s")), 0, asked, now());

        assertThat(isDead("s")).isFalse();
    }

    @Test
    void a_first_look_that_took_long_counts_from_its_answer() {
        claim("s", "a");
        long asked = now();
        clock.passSeconds(LOOK);
        watch.sight("s", 1, Optional.of(claims.get("s")), 0, asked, now());

        watchFor(LEASE - LOOK);
        assertThat(isDead("s")).isFalse();
    }

    @Test
    void a_death_that_was_seen_long_ago_must_be_seen_again() {
        claim("s", "a");
        watchFor(LEASE);
        clock.passSeconds(LEASE);

        assertThat(isDead("s")).isFalse();
    }

    @Test
    void a_beat_begins_the_watch_anew() {
        claim("s", "a");
        watchFor(LEASE - LOOK);
        beat("s");
        watchFor(LEASE - LOOK);
        assertThat(isDead("s")).isFalse();
        watchFor(LOOK);
        assertThat(isDead("s")).isTrue();
    }

    @Test
    void another_epoch_begins_the_watch_anew() {
        claim("s", "a");
        watchFor(LEASE - LOOK);
        claims.put("s", TestClaims.running("s", 2, "a"));
        watchFor(LOOK);
        assertThat(isDead("s")).isFalse();
    }

    @Test
    void another_content_begins_the_watch_anew() {
        claim("s", "a");
        watchFor(LEASE - LOOK);
        claims.put("s", TestClaims.running("s", 1, "b"));
        watchFor(LOOK);
        assertThat(isDead("s")).isFalse();
    }

    @Test
    void a_forgotten_claim_is_watched_from_the_start() {
        claim("s", "a");
        watchFor(LEASE);
        watch.forget("s");
        assertThat(isDead("s")).isFalse();
        watchFor(LEASE - LOOK);
        assertThat(isDead("s")).isFalse();
    }

    @Test
    void a_claim_that_has_ended_does_not_die() {
        claims.put("s", TestClaims.running("s", 1, "a").ended(ClaimStatus.DONE, null, null));
        watchFor(3 * LEASE);

        assertThat(isDead("s")).isFalse();
    }

    @Test
    void a_claim_without_content_dies_like_any_other() {
        for (int passed = 0; passed <= LEASE; passed += LOOK) {
            assertThat(isDead("torn")).isFalse();
            watch.sight("torn", 1, Optional.empty(), 0, now(), now());
            clock.passSeconds(passed < LEASE ? LOOK : 0);
        }
        assertThat(isDead("torn")).isTrue();
    }

    @Test
    void another_epoch_without_content_begins_the_watch_anew_too() {
        for (int passed = 0; passed < LEASE; passed += LOOK) {
            watch.sight("torn", 1, Optional.empty(), 0, now(), now());
            clock.passSeconds(LOOK);
        }
        watch.sight("torn", 2, Optional.empty(), 0, now(), now());

        assertThat(isDead("torn")).isFalse();
    }

    private void threeNodesStopAtOnce() {
        claim("a1", "a");
        claim("b1", "b");
        claim("c1", "c");
        watchFor(LEASE);
    }

    @Test
    void many_deaths_at_once_are_not_believed_before_a_second_lease() {
        threeNodesStopAtOnce();
        assertThat(watch.isMassStall(now())).isTrue();
        assertThat(isDead("a1")).isFalse();

        watchFor(LEASE - LOOK);
        assertThat(isDead("a1")).isFalse();
        watchFor(LOOK);
        assertThat(isDead("a1")).isTrue();
        assertThat(isDead("b1")).isTrue();
        assertThat(watch.isCharged("a1", now())).isFalse();
    }

    @Test
    void the_second_lease_too_must_be_watched_to_its_end() {
        threeNodesStopAtOnce();
        watchFor(LEASE - LOOK);
        clock.passSeconds(LOOK);

        assertThat(isDead("a1")).isFalse();
    }

    @Test
    void many_deaths_are_believed_once_somebody_beats_again_and_nobody_is_charged_for_the_mount() {
        threeNodesStopAtOnce();
        beat("c1");
        watchFor(LOOK);

        assertThat(isDead("a1")).isTrue();
        assertThat(isDead("b1")).isTrue();
        assertThat(isDead("c1")).isFalse();
        assertThat(watch.isCharged("a1", now())).isFalse();
    }

    @Test
    void who_stops_after_the_mount_came_back_is_charged() {
        threeNodesStopAtOnce();
        beat("c1");
        lookAtAll();
        claims.keySet().retainAll(List.of("c1"));
        watch.forget("a1");
        watch.forget("b1");
        watchFor(LEASE);

        assertThat(isDead("c1")).isTrue();
        assertThat(watch.isCharged("c1", now())).isTrue();
    }

    @Test
    void two_dead_nodes_are_believed_at_once() {
        claim("a1", "a");
        claim("b1", "b");
        watchFor(LEASE);

        assertThat(isDead("a1")).isTrue();
        assertThat(watch.isCharged("a1", now())).isTrue();
    }

    @Test
    void a_dead_node_with_many_claims_is_no_mass_stall() {
        claim("a1", "a");
        claim("a2", "a");
        claim("a3", "a");
        claim("a4", "a");
        watchFor(LEASE);

        assertThat(isDead("a4")).isTrue();
        assertThat(watch.isCharged("a4", now())).isTrue();
    }

    @Test
    void many_deaths_are_believed_where_others_go_on_beating() {
        claim("d1", "d");
        claim("a1", "a");
        claim("b1", "b");
        claim("c1", "c");
        lookAtAll();
        for (int passed = 0; passed < LEASE; passed += LOOK) {
            beat("d1");
            clock.passSeconds(LOOK);
            lookAtAll();
        }
        assertThat(isDead("a1")).isTrue();
        assertThat(watch.isCharged("a1", now())).isTrue();
        assertThat(isDead("d1")).isFalse();
    }
}
