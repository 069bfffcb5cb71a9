package dev.caravan.settings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class UnitsTest {
    @ParameterizedTest
    @CsvSource({
        "0s, PT0S, 0s",
        "500ms, PT0.5S, 500ms",
        "8s, PT8S, 8s",
        "90s, PT1M30S, 90s",
        "60s, PT1M, 1m",
        "2 m, PT2M, 2m",
        "35h, PT35H, 35h",
        "24h, PT24H, 1d",
        "1d, PT24H, 1d"
    })
    void durations_are_read_and_written(String text, Duration expected, String shortest) {
        assertThat(Durations.parse(text)).isEqualTo(expected);
        assertThat(Durations.format(expected)).isEqualTo(shortest);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", "8", "0", "-8s", "8 seconds", "1.5s", "PT8S", "s", "999999999d", "99999999999999999999s"})
    void other_durations_are_refused(String text) {
        assertThatThrownBy(() -> Durations.parse(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("expected a duration (a whole number and a unit: 500ms, 8s, 2m, 35h, 1d), found '"
                        + text + "'");
    }

    @ParameterizedTest
    @CsvSource({
        "0, 0",
        "1048576, 1048576",
        "7B, 7",
        "512MB, 512000000",
        "2GiB, 2147483648",
        "3 kib, 3072",
        "1TB, 1000000000000"
    })
    void sizes_are_read(String text, long expected) {
        assertThat(ByteSizes.parse(text)).isEqualTo(expected);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "-1", "1.5GB", "2G", "two", "GB", "9999999999TB", "99999999999999999999"})
    void other_sizes_are_refused(String text) {
        assertThatThrownBy(() -> ByteSizes.parse(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("found '" + text + "'");
    }

    @ParameterizedTest
    @CsvSource({
        "claim.leese, claim.lease",
        "Claim.Lease, claim.lease",
        "lease, claim.lease",
        "plol, claim.poll",
        "retry.backoffMax, retry.backoff_max",
        "retry.backoff-max, retry.backoff_max",
        "claim.lease.seconds,",
        "prt, http.port",
        "x,",
        "database.url,"
    })
    void the_nearest_name_is_offered_only_if_it_is_near(String unknown, String expected) {
        List<String> known = List.of("claim.lease", "claim.poll", "retry.backoff", "retry.backoff_max", "http.port");

        assertThat(Nearest.to(unknown, known).orElse(null)).isEqualTo(expected);
    }

    @Test
    void the_question_is_empty_without_a_near_name() {
        assertThat(Nearest.question("lease", List.of("claim.lease"))).isEqualTo("; did you mean claim.lease?");
        assertThat(Nearest.question("database", List.of("claim.lease"))).isEmpty();
    }
}
