package dev.caravan.intake;

import static org.assertj.core.api.Assertions.assertThat;

import dev.caravan.shard.Engine;
import dev.caravan.shard.Execution;
import dev.caravan.shard.Execution.Ray;
import dev.caravan.shard.Forecast;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AutoShardsTest {
    private static final long MINUTE = 64L << 20;
    private static final long MANY = 1_000_000_000;

    private static Execution ray(String address) {
        return new Execution(Engine.DATA_JUICER, List.of(), new Ray(address, null, null, null));
    }

    @ParameterizedTest
    @CsvSource({
        "1, 1, 10, 1",
        "1, 3, 10, 3",
        "1, 1000, 10, 4",
        "16, 1000, 10, 16",
        "16, 7, 10, 7",
        "1, 1000000000, 5242880, 4",
        "1, 1000000000, 8388608, 7",
        "1, 1000000000, 67108864, 8",
        "4, 1000000000, 67108864, 32",
        "1, 1000000000, 1073741824, 16",
        "1, 1000000000, 1073741825, 17",
        "4, 1000000000, 1073741824, 32",
        "4, 7, 1073741824, 7",
        "1, 1000000000, 1099511627776, 16384",
        "20000, 1000000000, 1099511627776, 100000",
        "1, 1000000000, 1125899906842624, 100000"
    })
    void a_shard_is_a_minute_of_bytes_and_eight_keep_a_slot_busy_but_not_for_less_than_a_second(
            int slots, long rows, long bytes, int expected) {
        assertThat(new AutoShards(MINUTE, slots, ray("warm"), null).of(rows, bytes))
                .isEqualTo(expected);
        assertThat(new AutoShards(MINUTE, slots, Scene.COMMAND, null).of(rows, bytes))
                .isEqualTo(expected);
    }

    @ParameterizedTest
    @CsvSource({
        "1, 10, 1",
        "16, 10, 16",
        "1, 67108864, 1",
        "1, 1073741824, 8",
        "4, 1073741824, 16",
        "1, 1099511627776, 4096"
    })
    void shards_that_start_an_engine_each_are_for_minutes(int slots, long bytes, int expected) {
        assertThat(new AutoShards(MINUTE, slots, ray("local"), null).of(MANY, bytes))
                .isEqualTo(expected);
        assertThat(new AutoShards(MINUTE, slots, ray("auto"), null).of(MANY, bytes))
                .isEqualTo(expected);
    }

    @Test
    void what_was_measured_on_the_same_input_counts_in_place_of_its_bytes() {
        long input = 1_000_000;
        Forecast.Work work = new Forecast.Work(null, Scene.COMMAND);
        Forecast slow = Forecast.of(
                new Forecast.Job(input, false, 2, 1, work),
                new Forecast.Costs(0, 0, 0),
                List.of(new Forecast.Unit(10, 1_000, 1_000, 6)));
        AutoShards auto = new AutoShards(MINUTE, 1, Scene.COMMAND, slow);

        assertThat(auto.ofInput(input).of(MANY, input)).as("6,000 seconds").isEqualTo(100);
        assertThat(auto.ofInput(input).of(12, input)).isEqualTo(12);
        assertThat(new AutoShards(MINUTE, 50, Scene.COMMAND, slow).of(MANY, input))
                .as("more slots than were planned for")
                .isEqualTo(400);
        assertThat(auto.ofInput(input + 1).of(MANY, input + 1))
                .as("other input")
                .isEqualTo(4);
    }
}
