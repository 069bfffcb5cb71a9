package dev.caravan.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.caravan.shard.RoleResult;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class GenerationFilesTest {
    @TempDir
    Path folder;

    private GenerationFiles files() {
        return new GenerationFiles(new Layout.Job(folder.resolve("j")).generation("g1"));
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static RoleResult result(String node) {
        return new RoleResult(true, node, "h", "2026-10-01T12:00:00Z", null);
    }

    @Test
    void a_generation_is_what_was_asked_for_first() throws IOException {
        assertThat(files().descriptor()).isEmpty();
        assertThat(files().agreeOn(bytes("this"))).isTrue();
        assertThat(files().agreeOn(bytes("that"))).isFalse();
        assertThat(files().agreeOn(bytes("this"))).isTrue();
        assertThat(files().descriptor()).contains(bytes("this"));
    }

    @Test
    void of_eight_who_ask_for_different_things_one_is_agreed_on() throws Exception {
        List<Boolean> agreed = FactsContract.atOnce(thread -> files().agreeOn(bytes("by " + thread)));

        assertThat(agreed).containsOnlyOnce(true);
        assertThat(files().descriptor()).contains(bytes("by " + agreed.indexOf(true)));
    }

    @Test
    void each_role_ends_with_its_first_result() throws IOException {
        files().agreeOn(bytes("this"));
        RoleResult failed = new RoleResult(false, "b", "h", "2026-10-01T12:00:00Z", "no input");

        assertThat(files().publishPrepared(result("a"))).isTrue();
        assertThat(files().publishPrepared(failed)).isFalse();
        assertThat(files().finalizeResult()).isEmpty();
        assertThat(files().publishFinalized(failed)).isTrue();
        assertThat(files().publishFinalized(result("a"))).isFalse();
        assertThat(files().prepareResult()).contains(result("a"));
        assertThat(files().finalizeResult()).contains(failed);
    }

    @Test
    void a_result_that_cannot_be_read_is_an_error_that_names_its_file() throws IOException {
        files().agreeOn(bytes("this"));
        Path result = new Layout.Job(folder.resolve("j")).generation("g1").prepareResult();
        Files.writeString(result, "{");

        assertThatThrownBy(() -> files().prepareResult())
                .isInstanceOf(StoreException.class)
                .hasMessageContaining("cannot read " + result);
    }
}
