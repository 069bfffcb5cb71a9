package dev.caravan.shard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.List;
import org.junit.jupiter.api.Test;

class ForecastTest {
    private static final Forecast.Work WORK =
            new Forecast.Work(null, new Execution(Engine.COMMAND, List.of("cat"), Execution.Ray.DEFAULT));
    private static final Forecast.Costs FREE = new Forecast.Costs(0, 0, 0);

    /** A second for each kilobyte of ten records, which become a quarter. */
    private static final List<Forecast.Unit> STEADY = List.of(new Forecast.Unit(10, 1_000, 250, 1));

    private static Forecast forecast(long inputBytes, int nodes, int slots, List<Forecast.Unit> units) {
        return Forecast.of(new Forecast.Job(inputBytes, true, nodes, slots, WORK), FREE, units);
    }

    @Test
    void a_shard_is_about_a_minute_of_work() {
        Forecast forecast = forecast(60_000_000, 2, 4, STEADY);

        assertThat(forecast.shards()).isEqualTo(1_000);
        assertThat(forecast.seconds()).isCloseTo(60_000 / 8.0, within(1.0));
        assertThat(forecast.records()).isEqualTo(600_000);
        assertThat(forecast.shardBytes()).isEqualTo(60_000_000);
        assertThat(forecast.resultBytes()).isEqualTo(15_000_000);
    }

    @Test
    void there_are_eight_shards_a_slot_but_never_more_than_records_or_than_a_job_may_have() {
        assertThat(forecast(60_000, 2, 4, STEADY).shards()).isEqualTo(64);
        assertThat(forecast(2_000, 2, 4, STEADY).shards()).isEqualTo(20);
        assertThat(forecast(Long.MAX_VALUE / 4, 2, 4, STEADY).shards()).isEqualTo(100_000);
    }

    @Test
    void the_range_is_that_of_the_units() {
        Forecast forecast = forecast(
                80_000,
                1,
                1,
                List.of(
                        new Forecast.Unit(10, 1_000, 250, 3),
                        new Forecast.Unit(10, 1_000, 250, 1),
                        new Forecast.Unit(20, 2_000, 250, 2)));

        assertThat(forecast.fewestSeconds()).isCloseTo(80, within(0.01));
        assertThat(forecast.seconds()).isCloseTo(120, within(0.01));
        assertThat(forecast.mostSeconds()).isCloseTo(240, within(0.01));
    }

    @Test
    void what_a_start_and_each_shard_cost_is_not_taken_for_work() {
        Forecast forecast = Forecast.of(
                new Forecast.Job(80_000, false, 1, 2, WORK),
                new Forecast.Costs(30, 4, 0),
                List.of(new Forecast.Unit(10, 1_000, 250, 5)));

        assertThat(forecast.shards()).isEqualTo(16);
        assertThat(forecast.seconds()).isCloseTo(30 + 8 * 4 + 40, within(0.01));
        assertThat(forecast.shardBytes()).isZero();
    }

    @Test
    void no_shard_costs_more_than_its_work_unless_a_slot_would_have_none() {
        List<Forecast.Unit> units = List.of(new Forecast.Unit(10, 1_000, 250, 21));
        Forecast.Costs cold = new Forecast.Costs(0, 20, 0);

        assertThat(Forecast.of(new Forecast.Job(80_000, false, 1, 2, WORK), cold, units)
                        .shards())
                .isEqualTo(4);
        assertThat(Forecast.of(new Forecast.Job(80_000, false, 3, 2, WORK), cold, units)
                        .shards())
                .isEqualTo(6);
    }

    @Test
    void fewer_shards_than_slots_take_as_long_as_one() {
        assertThat(forecast(300, 4, 4, STEADY).seconds()).isCloseTo(0.1, within(0.01));
    }
}
