package dev.caravan.dashboard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class GuardTest {
    private static final String TOKEN = "0123456789abcdef";
    private final Guard own = new Guard("127.0.0.1", TOKEN);
    private final Guard open = new Guard("0.0.0.0", TOKEN);

    private static void assertAdmits(Guard guard, String method, String path, String host, @Nullable String sent) {
        assertThatCode(() -> guard.check(method, path, host, sent)).doesNotThrowAnyException();
    }

    private static void assertRefuses(
            int status, Guard guard, String method, String path, String host, @Nullable String sent) {
        Refusal refusal = catchThrowableOfType(Refusal.class, () -> guard.check(method, path, host, sent));
        assertThat(refusal).as("%s %s by %s", method, path, sent).isNotNull();
        assertThat(refusal.status()).isEqualTo(status);
    }

    @Test
    void whoever_sends_the_token_may_do_all() {
        assertAdmits(own, "POST", "/api/jobs/j/cancel", "localhost:8080", "Bearer " + TOKEN);
        assertAdmits(open, "POST", "/api/jobs/j/cancel", "node7:8080", "Bearer " + TOKEN);
        assertAdmits(open, "GET", "/api/jobs", "node7:8080", "Bearer " + TOKEN);
    }

    @Test
    void without_it_this_machine_looks_and_others_see_the_empty_page() {
        assertAdmits(own, "GET", "/api/jobs", "127.0.0.1:8080", null);
        assertAdmits(own, "GET", "/metrics", "[::1]:8080", null);
        assertAdmits(open, "GET", "/", "node7", null);
        assertAdmits(open, "GET", "/health/live", "node7", null);
        for (String path : new String[] {"/api/jobs", "/metrics", "/api/live", "/health/other", "//", "/anything"}) {
            assertRefuses(401, open, "GET", path, "node7", null);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"Bearer ", "Bearer 0123456789abcde", "Bearer 0123456789abcdefg", "0123456789abcdef", "Basic x"})
    void anything_else_is_no_token(String sent) {
        assertRefuses(401, own, "POST", "/api/jobs/j/cancel", "localhost", sent);
        assertRefuses(401, open, "GET", "/api/jobs", "node7", sent);
    }

    @Test
    void a_foreign_name_of_this_machine_is_refused_even_to_look() {
        assertRefuses(403, own, "GET", "/api/jobs", "evil.example:8080", null);
        assertRefuses(403, own, "GET", "/", "localhost.evil.example", null);
        assertRefuses(403, own, "POST", "/api/jobs/j/cancel", "127.0.0.1.evil.example", "Bearer " + TOKEN);
    }

    @Test
    void a_token_that_is_not_set_is_made_up_anew_each_time() {
        assertThat(new Guard("127.0.0.1", "").token()).hasSize(32).isNotEqualTo(new Guard("127.0.0.1", "").token());
    }
}
