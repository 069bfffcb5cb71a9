package dev.caravan.intake;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.caravan.jsonl.BadJsonlException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Files that people have given to such programs, from public reports. */
class BadInputTest {
    @TempDir
    Path folder;

    static Stream<Arguments> bad_files() {
        return Stream.of(
                Arguments.of(
                        "[\n    {\n        \"a\": 1\n    }\n]\n", "line 1, byte 0 (column 1): not one record per line"),
                Arguments.of("{\n  \"a\": 1\n}\n", "line 1, byte 0 (column 1): not one record per line"),
                Arguments.of("[{\"a\":1},{\"a\":2}]", "line 1, byte 0 (column 1): not an object but an array"),
                Arguments.of(
                        "[\"hello\",\"world\"]\n[\"ray\",\"rocks\"]\n",
                        "line 1, byte 0 (column 1): not an object but an array"),
                Arguments.of(
                        "{\"t\":\"ok\"}\n\u00ff\n", "line 2, byte 11 (column 1): not UTF-8 (byte 0xff); found: \\xff"),
                Arguments.of(
                        "{\"v\":1}\n{\"v\":NaN}\n",
                        "line 2, byte 13 (column 6): broken JSON: NaN and Infinity are not JSON"),
                Arguments.of(
                        "{}\n{\"x\":" + "[".repeat(100_000) + "]".repeat(100_000) + "}\n{}\n",
                        "line 2, byte 1007 (column 1005): nested deeper than 1000 levels"),
                Arguments.of(
                        "{}\n" + "\0".repeat(1_000_000) + "{}\n{}\n",
                        "line 2, byte 3 (column 1): not an object but NUL bytes"),
                Arguments.of(
                        "{\"a\":1}{\"a\":2}\n",
                        "line 1, byte 7 (column 8): broken JSON: a second object on the same line"),
                Arguments.of(
                        "{\"a\":1}\r{\"a\":2}\r",
                        "line 1, byte 8 (column 9): broken JSON: a second object on the same line"),
                Arguments.of(
                        "{\"a\":1}\n{\"a\":\"hal",
                        "line 2, byte 13 (column 6): broken JSON: the line ends inside a string"),
                Arguments.of(
                        "\u001f\u008b\b\0\0",
                        "line 1, byte 0 (column 1): compressed data under the name of a text file"));
    }

    @ParameterizedTest
    @MethodSource("bad_files")
    void is_refused_with_file_line_and_byte_and_no_job_is_made(String latin1, String message) throws IOException {
        Scene scene = new Scene(folder.toRealPath());
        scene.write("a.jsonl", "{}\n");
        Path bad = scene.write("b.jsonl", latin1.getBytes(StandardCharsets.ISO_8859_1));

        assertThatThrownBy(scene::prepare)
                .isInstanceOf(BadJsonlException.class)
                .hasMessageStartingWith(bad + " is not JSON Lines: ")
                .hasMessageContaining("\n  " + message)
                .message()
                .hasSizeLessThan(2500);
        assertThat(scene.besideJob()).isEmpty();
    }

    @Test
    void odd_but_valid_values_pass_through_byte_for_byte() throws IOException {
        String odd = """
                {"m":"x\\ud835y"}
                {"b":1,"a":2,"b":3}
                {"id":9999999999999999999999999999999999,"f":0.1000000000000000055}
                {"a":null}
                {"d":"2024-01-01T00:00:00Z","items":[],"m":{"ts":"1.000"}}
                {"messages":[{"content":"text"},{"content":[{"type":"text","text":"t\u2028u"}]}]}
                """;
        Scene scene = new Scene(folder.toRealPath());
        scene.write("a.jsonl", odd);

        assertThat(String.join("", scene.shardTexts(scene.prepare().manifest())))
                .isEqualTo(odd);
    }
}
