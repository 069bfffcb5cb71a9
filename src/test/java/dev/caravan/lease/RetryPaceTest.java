package dev.caravan.lease;

import static org.assertj.core.api.Assertions.assertThat;

import dev.caravan.shard.Spent;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RetryPaceTest {
    private final RetryPace pace = new RetryPace(Duration.ofSeconds(5), Duration.ofSeconds(60), Duration.ofSeconds(10));

    @ParameterizedTest
    @CsvSource({"1,5", "2,10", "3,20", "4,40", "5,60", "6,60", "64,60", "65,60", "70,60", "1000000,60"})
    void the_rest_doubles_with_each_failure_up_to_its_maximum(int failures, long seconds) {
        assertThat(pace.rest(new Spent(failures, 0, 0, 0), false)).isEqualTo(Duration.ofSeconds(seconds));
    }

    @Test
    void failures_of_all_classes_count() {
        assertThat(pace.rest(new Spent(1, 1, 1, 1), false)).isEqualTo(Duration.ofSeconds(40));
    }

    @Test
    void a_node_that_failed_waits_longer_than_the_others_even_at_the_maximum() {
        assertThat(pace.rest(new Spent(1, 0, 0, 0), true)).isEqualTo(Duration.ofSeconds(15));
        assertThat(pace.rest(new Spent(9, 0, 0, 0), true)).isEqualTo(Duration.ofSeconds(70));
    }
}
