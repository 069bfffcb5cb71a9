package dev.caravan.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.caravan.shard.Claim;
import dev.caravan.shard.ClaimStatus;
import dev.caravan.shard.FailureClass;
import dev.caravan.shard.Spent;
import dev.caravan.shard.TestClaims;
import java.io.IOException;
import java.nio.file.attribute.FileTime;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What nodes need of the claims in one directory. */
public interface LeaseStoreContract {
    /** Another handle of the same directory each time, as another node would have; the directory is empty at first. */
    LeaseStore open();

    private Optional<Claim> read(String key, long epoch) throws IOException {
        return open().look(key, epoch).flatMap(LeaseStore.Sight::claim);
    }

    @Test
    default void of_eight_nodes_one_wins_each_epoch() throws Exception {
        for (int epoch = 1; epoch <= 25; epoch++) {
            int current = epoch;
            List<Boolean> won = FactsContract.atOnce(
                    node -> open().create(TestClaims.running("part-00000-of-00001", current, "node-" + node)));

            assertThat(won).containsOnlyOnce(true);
            assertThat(read("part-00000-of-00001", epoch).orElseThrow().node()).isEqualTo("node-" + won.indexOf(true));
            assertThat(open().highestEpochs()).containsOnly(java.util.Map.entry("part-00000-of-00001", (long) epoch));
        }
    }

    @Test
    default void a_claim_is_read_as_it_was_written() throws IOException {
        Claim claim = new Claim(
                "part-00003-of-00016",
                7,
                "token",
                "node-a",
                "host-a",
                42,
                "2026-10-01T12:00:00Z",
                ClaimStatus.RUNNING,
                null,
                null,
                "attempts/x",
                new Spent(1, 2, 3, 4),
                List.of("node-b", "node-c"),
                "token-before");
        open().create(claim);

        assertThat(read(claim.key(), 7)).contains(claim);
        assertThat(read(claim.key(), 6)).isEmpty();
        Claim failed = claim.ended(ClaimStatus.FAILED, FailureClass.STALLED, "no \"progress\"\n");
        open().end(failed);
        assertThat(read(claim.key(), 7)).contains(failed);
    }

    @Test
    default void the_highest_epoch_of_each_key_is_listed() throws IOException {
        for (long epoch : new long[] {1, 2, 9, 10}) {
            open().create(TestClaims.running("a", epoch, "n"));
        }
        open().create(TestClaims.running("b", 1, "n"));
        open().create(TestClaims.running("with.dots-1.2", 3, "n"));

        assertThat(open().highestEpochs())
                .containsOnly(
                        java.util.Map.entry("a", 10L),
                        java.util.Map.entry("b", 1L),
                        java.util.Map.entry("with.dots-1.2", 3L));
    }

    @Test
    default void a_beat_is_seen_and_leaves_the_claim_as_it_is() throws IOException {
        Claim claim = TestClaims.running("s", 1, "n");
        open().create(claim);
        FileTime before = open().look("s", 1).orElseThrow().beat();
        open().beat(claim, FileTime.fromMillis(before.toMillis() + 1));

        assertThat(open().look("s", 1).orElseThrow().beat()).isNotEqualTo(before);
        assertThat(read("s", 1)).contains(claim);
    }

    @Test
    default void an_ended_claim_still_takes_its_epoch() throws IOException {
        Claim claim = TestClaims.running("s", 1, "a");
        open().create(claim);
        open().end(claim.ended(ClaimStatus.RELEASED, null, null));

        assertThat(open().exists("s", 1)).isTrue();
        assertThat(open().exists("s", 2)).isFalse();
        assertThat(open().create(TestClaims.running("s", 1, "b"))).isFalse();
        assertThat(read("s", 1).orElseThrow().node()).isEqualTo("a");
    }

    @Test
    default void nothing_is_listed_where_nothing_was_claimed() throws IOException {
        assertThat(open().highestEpochs()).isEmpty();
    }
}
