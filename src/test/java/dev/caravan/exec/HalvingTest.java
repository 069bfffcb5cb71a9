package dev.caravan.exec;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.function.Predicate;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

class HalvingTest {
    private int runs;

    /** @param fails whether the engine fails on a range of records */
    private Halving over(int records, Predicate<Halving.Range> fails) {
        Halving halving = new Halving(records);
        for (Optional<Halving.Range> range = halving.next(); range.isPresent(); range = halving.next()) {
            runs++;
            if (fails.test(range.get())) {
                halving.failed();
            } else {
                halving.passed();
            }
        }
        return halving;
    }

    private static Predicate<Halving.Range> holdsOneOf(Set<Long> guilty) {
        return range -> guilty.stream().anyMatch(record -> record >= range.from() && record < range.to());
    }

    @RepeatedTest(100)
    void whatever_records_fail_alone_are_found(RepetitionInfo repetition) {
        SplittableRandom random = new SplittableRandom(repetition.getCurrentRepetition());
        int records = random.nextInt(20, 300);
        Set<Long> guilty = new TreeSet<>();
        while (guilty.size() < random.nextInt(1, Halving.HOPELESS)) {
            guilty.add(random.nextLong(records));
        }

        Halving halving = over(records, holdsOneOf(guilty));

        assertThat(halving.gaveUp()).isFalse();
        assertThat(halving.guilty()).containsExactlyElementsOf(guilty);
    }

    @Test
    void one_in_a_thousand_takes_about_as_many_runs_as_it_has_halves() {
        assertThat(over(1024, holdsOneOf(Set.of(700L))).guilty()).containsExactly(700L);
        assertThat(runs).isLessThanOrEqualTo(21);
    }

    @Test
    void records_that_fail_only_together_are_not_to_blame() {
        Halving halving = over(64, range -> range.size() >= 3);

        assertThat(halving.gaveUp()).isTrue();
    }

    @Test
    void an_engine_that_fails_on_everything_is_given_up_soon() {
        assertThat(over(1_000_000, range -> true).gaveUp()).isTrue();
        assertThat(runs).isLessThan(20 + 2 * Halving.HOPELESS);

        assertThat(over(3, range -> true).gaveUp()).isTrue();
        assertThat(over(1, range -> true).gaveUp()).isTrue();
    }
}
