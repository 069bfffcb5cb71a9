package dev.caravan.shard;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LedgerTest {
    @ParameterizedTest
    @CsvSource({"10, 10, 0, 0, 0", "10, 7, 0, 3, 0", "10, 12, 0, 0, 2", "10, 7, 2, 1, 0", "10, 9, 2, 0, 1"})
    void from_outside_the_difference_is_filtered_or_expanded(
            long in, long out, long failed, long filtered, long expanded) {
        Ledger ledger = Ledger.of(in, out, failed);

        assertThat(ledger).isEqualTo(new Ledger(in, out, filtered, expanded, failed));
        assertThat(ledger.imbalance()).isEmpty();
    }

    @Test
    void operators_tell_of_rows_that_were_made_and_dropped_again() {
        Ledger ledger = Ledger.of(
                10, 12, 1, List.of(new OperatorRows("chunk_mapper", 9, 20), new OperatorRows("filter", 20, 12)));

        assertThat(ledger).isEqualTo(new Ledger(10, 12, 8, 11, 1));
        assertThat(ledger.imbalance()).isEmpty();
    }

    @Test
    void a_row_between_two_operators_that_nobody_knows_of_is_noticed() {
        Ledger ledger =
                Ledger.of(10, 8, 0, List.of(new OperatorRows("first", 10, 10), new OperatorRows("second", 9, 8)));

        assertThat(ledger.imbalance())
                .contains("expected rows in + expanded = rows out + filtered + failed, found 10 + 0 and 8 + 1 + 0");
    }

    @Test
    void no_number_may_be_negative() {
        assertThat(new Ledger(1, 2, -1, 0, 0).imbalance()).isPresent();
    }

    @Test
    void sums_of_what_adds_up_add_up() {
        Ledger sum = Ledger.of(10, 7, 2).plus(Ledger.of(5, 9, 1)).plus(Ledger.EMPTY);

        assertThat(sum).isEqualTo(new Ledger(15, 16, 1, 5, 3));
        assertThat(sum.imbalance()).isEmpty();
    }
}
