package dev.caravan.intake;

import static dev.caravan.packing.Packed.gzip;
import static dev.caravan.packing.Packed.join;
import static dev.caravan.packing.Packed.zstd;
import static org.assertj.core.api.Assertions.assertThat;

import dev.caravan.shard.Manifest;
import dev.caravan.shard.ShardForm;
import dev.caravan.store.Json;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Kind J of the public reports: JSON Lines. */
class JsonReportsTest extends PublicReports {
    private static final String NESTED = "[".repeat(100_000) + "]".repeat(100_000);
    private static final String PRETTY = "[\n    {\n        \"a\": 1\n    },\n    {\n        \"a\": 2\n    }\n]";
    private static final byte[] NON_RECORDS =
            "{\"t\":\"ok\"}\n\u00ff\n[]\n42\n\"s\"\nnull\n{\"t\":\"ok2\"}\n".getBytes(StandardCharsets.ISO_8859_1);

    static Stream<Arguments> every_record_comes_through_as_it_was_in_one_shard_and_in_two() throws IOException {
        String megabytes = "{\"t\":\"" + "a".repeat(2_000_000) + "\"}\n";
        return Stream.of(
                report(
                        "J01 two records behind a byte order mark",
                        numbered(1, 3),
                        "bom2.jsonl",
                        "\uFEFF" + numbered(1, 3)),
                report(
                        "J01 six records behind a byte order mark",
                        numbered(1, 7),
                        "bom6.jsonl",
                        "\uFEFF" + numbered(1, 7)),
                report(
                        "J01 a byte order mark in the second of three files",
                        numbered(0, 3),
                        "0.jsonl",
                        numbered(0, 1),
                        "1.jsonl",
                        "\uFEFF" + numbered(1, 2),
                        "2.jsonl",
                        numbered(2, 3)),
                unchanged(
                        "J03 separators of Unicode in strings end no line",
                        "{\"t\":\"a\u2028b\"}\n{\"t\":\"c\u0085d\"}\n{\"t\":\"e\u2029f\"}\n"),
                report(
                        "J05 CRLF, the last line without",
                        "{\"k\":\"v\"}\n".repeat(3),
                        "crlf.jsonl",
                        "{\"k\":\"v\"}\r\n{\"k\":\"v\"}\r\n{\"k\":\"v\"}"),
                report(
                        "J06 a file without a last line feed",
                        numbered(0, 2),
                        "0.jsonl",
                        "{\"i\":0}",
                        "1.jsonl",
                        "{\"i\":1}\n"),
                report(
                        "J08 blank lines are no records and none comes out",
                        "{\"a\":1}\n{\"a\":2}\n",
                        "blank.jsonl",
                        "{\"a\":1}\n\n   \n{\"a\":2}\n\n\n\n"),
                unchanged("J12 an unpaired surrogate stays an escape", "{\"m\":\"x\\ud835y\"}\n{\"m\":\"ok\"}\n"),
                unchanged("J16 equal keys keep their bytes", "{\"b\":1,\"a\":2,\"b\":3}\n{}\n"),
                unchanged(
                        "J18 integers of any size keep their digits",
                        "{\"id\":18446744073709551616}\n{\"id\":9999999999999999999999999999999999}\n{\"id\":-9223372036854775809}\n"),
                report(
                        "J24 a small file with a large record",
                        megabytes + "{}\n",
                        "x.jsonl.gz",
                        gzip(megabytes + "{}\n")));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource
    void every_record_comes_through_as_it_was_in_one_shard_and_in_two(
            String id, Map<String, byte[]> files, String expected) throws IOException {
        comesThrough(files, expected);
    }

    static Stream<Arguments> what_is_no_record_is_refused_with_file_and_place_and_nothing_is_made() {
        return Stream.of(
                report(
                        "J09 a hole of NUL bytes",
                        "line 2, byte 8 (column 1): not an object but NUL bytes",
                        "nul.jsonl",
                        "{\"a\":1}\n" + "\0".repeat(1_000_000) + "{\"a\":2}\n{\"a\":3}\n"),
                report(
                        "J11 lines that are no objects",
                        "line 2, byte 11 (column 1): not UTF-8 (byte 0xff)",
                        "mix.jsonl",
                        NON_RECORDS),
                report(
                        "J14 NaN",
                        "line 1, byte 5 (column 6): broken JSON: NaN and Infinity are not JSON",
                        "nan.jsonl",
                        "{\"v\":NaN}\n{\"v\":1}\n"),
                report(
                        "J19 deep nesting",
                        "line 2, byte 1007 (column 1005): nested deeper than 1000 levels",
                        "deep.jsonl",
                        "{}\n{\"x\":" + NESTED + "}\n{}\n"),
                report(
                        "J21 a pretty-printed array",
                        "line 1, byte 0 (column 1): not one record per line",
                        "x.jsonl",
                        PRETTY),
                report(
                        "J21 an array on one line",
                        "line 1, byte 0 (column 1): not an object but an array",
                        "x.jsonl",
                        "[{\"a\":1},{\"a\":2}]"),
                report(
                        "J21 a pretty-printed object",
                        "line 1, byte 0 (column 1): not one record per line",
                        "x.jsonl",
                        "{\n  \"a\": 1\n}\n"),
                report(
                        "J22 records that are arrays",
                        "line 1, byte 0 (column 1): not an object but an array",
                        "x.jsonl",
                        "[\"hello\",\"world\"]\n[\"ray\",\"rocks\"]\n"));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource
    void what_is_no_record_is_refused_with_file_and_place_and_nothing_is_made(
            String id, Map<String, byte[]> files, String message) throws IOException {
        isRefused(files, message);
    }

    static Stream<Arguments> quarantined() {
        String nul = "\0".repeat(1_000_000) + "{\"a\":2}";
        String deep = "{\"x\":" + NESTED + "}";
        return Stream.of(
                Arguments.of(
                        "J09",
                        bytes("{\"a\":1}\n" + nul + "\n{\"a\":3}\n"),
                        "{\"a\":1}\n{\"a\":3}\n",
                        List.of(2),
                        List.of("NUL bytes")),
                Arguments.of(
                        "J11",
                        NON_RECORDS,
                        "{\"t\":\"ok\"}\n{\"t\":\"ok2\"}\n",
                        List.of(2, 3, 4, 5, 6),
                        List.of("not UTF-8", "an array", "a number", "a string", "null")),
                Arguments.of(
                        "J14",
                        bytes("{\"v\":NaN}\n{\"v\":1}\n{\"v\":[-Infinity]}\n"),
                        "{\"v\":1}\n",
                        List.of(1, 3),
                        List.of("NaN and Infinity are not JSON", "NaN and Infinity are not JSON")),
                Arguments.of(
                        "J19",
                        bytes("{}\n" + deep + "\n{}\n"),
                        "{}\n{}\n",
                        List.of(2),
                        List.of("nested deeper than 1000")));
    }

    @ParameterizedTest(name = "{0} set aside")
    @MethodSource("quarantined")
    void lines_that_are_no_records_are_set_aside_with_line_and_reason(
            String id, byte[] content, String expected, List<Integer> lines, List<String> reasons) throws IOException {
        quarantine();
        scene.write("x.jsonl", content);

        Manifest manifest = scene.prepare().manifest();

        assertThat(String.join("", scene.shardTexts(manifest))).isEqualTo(expected);
        assertThat(manifest.quarantined()).isEqualTo(lines.size());
        List<String> entries = Files.readAllLines(scene.job.quarantinedRecords());
        for (int i = 0; i < lines.size(); i++) {
            var entry = Json.tree(bytes(entries.get(i)));
            assertThat(entry.at("/line").asInt()).isEqualTo(lines.get(i));
            assertThat(entry.at("/reason").asText()).contains(reasons.get(i)).hasSizeLessThan(200);
        }
    }

    @ParameterizedTest(name = "J16 records with equal keys are counted, shards: {0}")
    @EnumSource(ShardForm.class)
    void records_with_equal_keys_are_counted(ShardForm form) throws IOException {
        scene.form = form;
        scene.shards = 3;
        Path plain = scene.write("a.jsonl", "{}\n{\"b\":1,\"a\":2,\"b\":3}\n" + numbered(0, 300_000));
        String inside = "{\"m\":[{\"a\":1,\"a\":1}]}\n";
        Path other = scene.write("b.jsonl", numbered(0, 9) + inside + "{\"\\u0062\":1,\"b\":1}\n");

        Manifest manifest = scene.prepare().manifest();

        assertThat(manifest.shardForm()).isEqualTo(form);
        assertThat(manifest.warnings())
                .containsExactly("records with a key twice in one object (3), which keep their bytes, but of which"
                        + " operators and most programs see the last value alone: "
                        + plain + " (1, the first at byte 3), " + other + " (2, the first at byte 72)");
    }

    @Test
    @DisplayName("J23 one huge record between short ones")
    void a_huge_record() throws IOException {
        String huge = "{\"t\":\"" + "QUJD".repeat(6_000_000) + "\"}\n";
        scene.shards = 3;
        scene.write("x.jsonl.zst", join(zstd(numbered(0, 5000)), zstd(huge), zstd(numbered(5000, 10_000))));

        List<String> shards = scene.shardTexts(scene.prepare().manifest());

        assertThat(String.join("", shards)).isEqualTo(numbered(0, 5000) + huge + numbered(5000, 10_000));
    }
}
