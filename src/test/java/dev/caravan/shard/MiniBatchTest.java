package dev.caravan.shard;

import static org.assertj.core.api.Assertions.assertThat;

import dev.caravan.shard.MiniBatch.Allowed;
import dev.caravan.shard.MiniBatch.Failed;
import java.util.List;
import org.junit.jupiter.api.Test;

class MiniBatchTest {
    private static MiniBatch limits(long items, long batches, double percent) {
        MiniBatch.Size size = new MiniBatch.Size(10L, null);
        return new MiniBatch(
                List.of("/in"),
                "file",
                size,
                items,
                batches,
                percent,
                "append_row",
                "rows.txt",
                null,
                60,
                3,
                600,
                "INFO",
                List.of(),
                0,
                null);
    }

    @Test
    void any_number_may_fail_by_default() {
        MiniBatch any = limits(-1, -1, 100);

        assertThat(any.allowed(20, new Failed(50, 20))).isEqualTo(new Allowed(null, null));
        assertThat(any.exceeded(20, new Failed(50, 20))).isEmpty();
    }

    @Test
    void as_many_as_the_limit_may_fail_and_not_one_more() {
        MiniBatch items = limits(5, -1, 100);
        assertThat(items.allowed(20, new Failed(3, 1))).isEqualTo(new Allowed(2L, null));
        assertThat(items.exceeded(20, new Failed(5, 1))).isEmpty();
        assertThat(items.exceeded(20, new Failed(6, 1))).contains("6 items failed, error_threshold is 5");

        MiniBatch batches = limits(-1, 4, 10);
        assertThat(batches.allowed(20, new Failed(9, 1)))
                .as("the lower one: 10 % of 20")
                .isEqualTo(new Allowed(null, 1L));
        assertThat(batches.exceeded(20, new Failed(9, 2))).isEmpty();
        assertThat(batches.exceeded(20, new Failed(9, 3)).orElseThrow()).contains("3 of 20 mini-batches failed");
    }

    @Test
    void failures_are_what_the_done_records_do_not_tell_of() {
        assertThat(Failed.lines(10, 4, 3, 1))
                .containsExactly(new OperatorRows("mini_batch", 3, 2), new OperatorRows("run", 10, 6));
    }
}
