package dev.caravan.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

/** The plain forms mean what the parser of command lines makes of them, and all others are left to it. */
class StatusCommandTest {
    private static List<String> words(String line) {
        return List.of(line.split(" "));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "status --job-dir j",
                "status --job-dir j --json",
                "status --json --all --job-dir /a/b",
                "status --all --job-dir j"
            })
    void a_plain_form_is_read_as_the_parser_reads_it(String line) {
        StatusCommand parsed = new StatusCommand();
        new CommandLine(parsed)
                .parseArgs(words(line).subList(1, words(line).size()).toArray(String[]::new));

        StatusCommand plain = StatusCommand.plain(words(line)).orElseThrow();

        assertThat(plain.jobDir).isEqualTo(parsed.jobDir);
        assertThat(plain.json).isEqualTo(parsed.json);
        assertThat(plain.all).isEqualTo(parsed.all);
        assertThat(plain.lockTimeoutSecs).isNull();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "status",
                "status --json",
                "status --job-dir",
                "status --job-dir --json",
                "status --job-dir a --job-dir b",
                "status --job-dir a b",
                "status --job-dir=a",
                "status --job-dir a --json --json",
                "status --job-dir a --help",
                "status --job-dir a --lock-timeout-secs 3",
                "status --job-dir a -Dcaravan.claim.lease=8s",
                "watch --job-dir a"
            })
    void every_other_form_is_left_to_the_parser(String line) {
        assertThat(StatusCommand.plain(words(line))).isEmpty();
    }

    @Test
    void no_words_are_left_to_the_parser() {
        assertThat(StatusCommand.plain(List.of())).isEmpty();
        assertThat(StatusCommand.plain(List.of("status", "--job-dir", ""))).isEmpty();
        assertThat(StatusCommand.plain(List.of("status", "--job-dir", "a b")).orElseThrow().jobDir)
                .isEqualTo(Path.of("a b"));
    }
}
