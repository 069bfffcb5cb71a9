package dev.caravan.intake;

import static dev.caravan.packing.Packed.gzip;
import static dev.caravan.packing.Packed.join;
import static dev.caravan.packing.Packed.zstd;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.caravan.CaravanException;
import dev.caravan.shard.BadRecords;
import dev.caravan.shard.Manifest;
import dev.caravan.shard.OnBadRecord;
import dev.caravan.shard.Poison;
import dev.caravan.shard.Policy;
import dev.caravan.store.Json;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Input that broke other programs, by the numbers of a collection of public bug reports: kinds J (JSON Lines), F (files
 * and folders), Z (compressed input) and S (values), each with the outcome that its reporter would call right.
 */
@Timeout(60)
class PublicReportsTest {
    private static final String NESTED = "[".repeat(100_000) + "]".repeat(100_000);
    private static final String PRETTY = "[\n    {\n        \"a\": 1\n    },\n    {\n        \"a\": 2\n    }\n]";
    private static final byte[] NON_RECORDS =
            "{\"t\":\"ok\"}\n\u00ff\n[]\n42\n\"s\"\nnull\n{\"t\":\"ok2\"}\n".getBytes(StandardCharsets.ISO_8859_1);

    @TempDir
    Path folder;

    private Scene scene;

    @BeforeEach
    void setUp() throws IOException {
        scene = new Scene(folder.toRealPath());
    }

    private static Arguments report(String id, String expected, Object... namesAndContents) {
        return Arguments.of(id, files(namesAndContents), expected);
    }

    private static Map<String, byte[]> files(Object... namesAndContents) {
        Map<String, byte[]> files = new LinkedHashMap<>();
        for (int i = 0; i < namesAndContents.length; i += 2) {
            Object content = namesAndContents[i + 1];
            files.put((String) namesAndContents[i], content instanceof byte[] raw ? raw : bytes((String) content));
        }
        return files;
    }

    private static Arguments unchanged(String id, String text) {
        return report(id, text, "x.jsonl", text);
    }

    private static String numbered(int from, int to) {
        return IntStream.range(from, to).mapToObj("{\"i\":%d}\n"::formatted).collect(Collectors.joining());
    }

    static Stream<Arguments> good() throws IOException {
        byte[] plain = gzip("{\"i\":9}\n");
        byte[] extra = join(
                new byte[] {0x1F, (byte) 0x8B, 8, 4, 0, 0, 0, 0, 0, 3, 6, 0, 'B', 'C', 2, 0, 55, 0},
                Arrays.copyOfRange(plain, 10, plain.length));
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
                        gzip(megabytes + "{}\n")),
                report(
                        "F01 packed nothing and no bytes at all",
                        numbered(0, 2),
                        "a.jsonl.gz",
                        gzip(numbered(0, 2)),
                        "b.jsonl.gz",
                        gzip(""),
                        "c.jsonl.gz",
                        ""),
                report(
                        "F02 companions of another system",
                        numbered(0, 2),
                        "part-0.jsonl",
                        numbered(0, 2),
                        "._part-0.jsonl",
                        "\0\5\26\7".repeat(1000),
                        ".DS_Store",
                        "\0\0\0\1Bud1"),
                report(
                        "F06 names that look like patterns",
                        numbered(0, 2),
                        "[D] set?/a*b.jsonl",
                        numbered(0, 2),
                        "D/ab.jsonl.txt",
                        "x"),
                report(
                        "F10 suffixes",
                        numbered(0, 5),
                        "a.jsonl.gz",
                        gzip(numbered(0, 1)),
                        "b.JSONL",
                        numbered(1, 2),
                        "c.v1.2.jsonl",
                        numbered(2, 3),
                        "d.NDJSON.ZST",
                        zstd(numbered(3, 5)),
                        "e.Json",
                        "{}",
                        "f.json.zst",
                        "{}",
                        "gjsonl.gz",
                        "{}",
                        "h.jsonl.bak",
                        "{}"),
                report(
                        "F11 a folder of all kinds",
                        numbered(0, 3),
                        "a.jsonl",
                        numbered(0, 1),
                        "b.jsonl.zst",
                        zstd(numbered(1, 2)),
                        "c.jsonl.gz",
                        gzip(numbered(2, 3))),
                report(
                        "F14 one name in two folders, and packed beside plain",
                        numbered(0, 10),
                        "a/x.jsonl",
                        numbered(0, 3),
                        "b/x.jsonl",
                        numbered(3, 8),
                        "x.jsonl",
                        numbered(8, 9),
                        "x.jsonl.gz",
                        gzip(numbered(9, 10))),
                report(
                        "Z01 several members",
                        numbered(1, 4),
                        "mm.jsonl.gz",
                        join(gzip(numbered(1, 2)), gzip(numbered(2, 4)))),
                report(
                        "Z01 several frames",
                        numbered(1, 4),
                        "mm.jsonl.zst",
                        join(zstd(numbered(1, 2)), zstd(numbered(2, 4)))),
                report(
                        "Z05 members with extra fields, as bgzip writes them",
                        "{\"i\":9}\n".repeat(2),
                        "b.jsonl.gz",
                        join(extra, extra)),
                unchanged(
                        "S01 null first, a string later",
                        "{\"id\":1,\"meta\":{\"url\":null}}\n".repeat(2000)
                                + "{\"id\":2,\"meta\":{\"url\":\"u\"}}\n".repeat(10)),
                unchanged(
                        "S03 an empty list first, filled ones later",
                        "{\"items\":[]}\n".repeat(1000) + "{\"items\":[1,2]}\n".repeat(1000) + "{\"items\":[\"a\"]}\n"),
                unchanged("S05 keys that differ from row to row", "{\"a\":\"x\"}\n{\"b\":2}\n".repeat(5000)),
                unchanged(
                        "S07 integers beside null",
                        "{\"a\":9007199254740993}\n{\"a\":null}\n{\"a\":5}\n{\"a\":1.0}\n{\"a\":0.1000000000000000055}\n"),
                unchanged(
                        "S09 strings that look like dates",
                        "{\"date\":\"2024-01-01\"}\n{\"created_at\":\"2024-01-01T00:00:00Z\"}\n{\"d\":\"2024-01-01 00:00:00\"}\n"),
                unchanged(
                        "S11 one key, three types",
                        "{\"m\":{\"ts\":1}}\n{\"m\":{\"ts\":\"1.000\"}}\n{\"m\":{\"ts\":1.5}}\n".repeat(1000)),
                unchanged(
                        "S12 content that is text or a list",
                        "{\"messages\":[{\"role\":\"system\",\"content\":\"text\"},{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"t\"},{\"type\":\"image_url\",\"image_url\":{\"url\":\"data:image/png;base64,iVBO=\"}}]}]}\n{}\n"));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("good")
    void every_record_comes_through_as_it_was_in_one_shard_and_in_two(
            String id, Map<String, byte[]> files, String expected) throws IOException {
        for (int shards : new int[] {1, 2}) {
            Scene scene = new Scene(Files.createDirectory(folder.toRealPath().resolve("shards-" + shards)));
            scene.shards = shards;
            write(scene, files);

            Manifest manifest = scene.prepare().manifest();

            assertThat(String.join("", scene.shardTexts(manifest))).isEqualTo(expected);
            assertThat(manifest.totalRows()).isEqualTo(expected.lines().count());
            assertThat(manifest.quarantined()).isZero();
        }
    }

    static Stream<Arguments> notRecords() throws IOException {
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
                        "[\"hello\",\"world\"]\n[\"ray\",\"rocks\"]\n"),
                report(
                        "Z03 gzip cut short",
                        "x.jsonl.gz cannot be unpacked: the compressed data end early at compressed byte ",
                        "x.jsonl.gz",
                        cut(gzip(numbered(0, 1000)))),
                report(
                        "Z03 gzip with a flipped byte",
                        "x.jsonl.gz cannot be unpacked: the gzip ",
                        "x.jsonl.gz",
                        flipped(gzip(numbered(0, 1000)))),
                report(
                        "Z03 zstd cut short",
                        "x.jsonl.zst cannot be unpacked: the compressed data end early at compressed byte ",
                        "x.jsonl.zst",
                        cut(zstd(numbered(0, 1000)))),
                report(
                        "Z03 zstd with a flipped byte",
                        "x.jsonl.zst cannot be unpacked: ",
                        "x.jsonl.zst",
                        flipped(zstd(numbered(0, 1000)))),
                report(
                        "Z05 text under the name of gzip",
                        "x.jsonl.gz cannot be unpacked: expected gzip data, as the name says, found something else",
                        "x.jsonl.gz",
                        numbered(0, 3)),
                report(
                        "Z05 gzip under the name of text",
                        "x.jsonl is not JSON Lines: expected one JSON object in UTF-8 on each line, found:\n  line 1, byte 0 (column 1): compressed data under the name of a text file",
                        "x.jsonl",
                        gzip("{}\n")),
                report(
                        "F08 a line feed in a name",
                        "have names that are not UTF-8 text or hold control characters: a\\x0ab.jsonl. Rename",
                        "a\nb.jsonl",
                        "",
                        "a",
                        "",
                        "b.jsonl",
                        "{}\n"),
                report("F10 no file matches", "no input in folder ", "x.json", "{}\n", "xjsonl.gz", "x"));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("notRecords")
    void what_is_no_record_is_refused_with_file_and_place_and_nothing_is_made(
            String id, Map<String, byte[]> files, String message) throws IOException {
        write(scene, files);

        assertThatThrownBy(scene::prepare)
                .isInstanceOf(CaravanException.class)
                .hasMessageContaining(message)
                .message()
                .hasSizeLessThan(2500);
        assertThat(scene.besideJob()).isEmpty();
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

    @Test
    @DisplayName("F01 files without records are named, those of 0 bytes with a question")
    void files_without_records_are_named() throws IOException {
        scene.write("a.jsonl", "{}\n");
        Path nothing = scene.write("b.jsonl.gz", gzip(""));
        Path empty = scene.write("c.jsonl.gz", "");

        assertThat(scene.prepare().manifest().warnings())
                .containsExactly(
                        "input files without records (1): " + nothing,
                        "compressed input files of 0 bytes (1), which no program that compresses writes: " + empty
                                + "; were they copied completely?");
    }

    @Test
    @DisplayName("F04 a link that leads upward ends, and is named")
    void a_link_upward_ends() throws IOException {
        scene.write("a/x.jsonl", "{\"i\":1}\n");
        Files.createSymbolicLink(scene.input.resolve("a/up"), Path.of("../../in"));

        Manifest manifest = scene.prepare().manifest();

        assertThat(scene.shardTexts(manifest)).containsExactly("{\"i\":1}\n");
        assertThat(manifest.warnings()).singleElement().asString().contains("linked to what is read already", "a/up");
    }

    @Test
    @DisplayName("F09 a name that is not UTF-8 is refused by name before work starts")
    void a_name_that_is_not_utf8() throws Exception {
        scene.write("a.jsonl", "{}\n");
        new ProcessBuilder("bash", "-c", "printf '{}\\n' > $'\\xff\\xfe.jsonl'")
                .directory(scene.input.toFile())
                .start()
                .waitFor();

        assertThatThrownBy(scene::prepare)
                .isInstanceOf(IntakeException.class)
                .hasMessageContaining("\uFFFD\uFFFD.jsonl")
                .satisfies(e ->
                        assertThat(Json.line(Map.of("error", e.getMessage()))).contains("\uFFFD\uFFFD.jsonl"));
        assertThat(scene.besideJob()).isEmpty();
    }

    @Test
    @DisplayName("F12 half a record of a packed or plain file that grows is no bad line")
    void a_file_that_grows() throws IOException {
        quarantine();
        String noise =
                new Random(3).longs(600_000).mapToObj("{\"i\":%d}\n"::formatted).collect(Collectors.joining());
        for (String name : List.of("a.jsonl", "b.jsonl.gz")) {
            byte[] whole = name.endsWith(".gz") ? gzip(noise) : bytes(noise);
            byte[] start = Arrays.copyOf(whole, whole.length - 3);
            Path file = scene.write(name, start);
            boolean[] done = {false};
            scene.progress = (read, total) -> {
                if (!done[0] && read > 4_000_000) {
                    done[0] = true;
                    append(file, Arrays.copyOfRange(whole, start.length, whole.length));
                }
            };

            assertThatThrownBy(scene::prepare)
                    .isInstanceOf(InputChangedException.class)
                    .hasMessageContaining(file.toString());
            assertThat(scene.besideJob()).isEmpty();
            Files.delete(file);
        }
    }

    @Test
    @DisplayName("F16 a copy with an older time is another input")
    void an_older_copy() throws IOException {
        Path file = scene.write("x.jsonl.gz", gzip("{\"i\":1}\n"));
        scene.prepare();
        Files.write(file, gzip("{\"i\":2}\n"));
        Files.setLastModifiedTime(file, FileTime.from(Instant.now().minus(365, ChronoUnit.DAYS)));

        assertThatThrownBy(scene::prepare)
                .isInstanceOf(IntakeException.class)
                .hasMessageContaining("does not match this request: input files: " + file);
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

    @Test
    @DisplayName("J24 and Z01 the cut is by the bytes of the text, not by those of the files")
    void packed_input_is_cut_by_its_text() throws IOException {
        String row = "{\"t\":\"" + "a".repeat(990) + "\"}\n";
        scene.shards = 4;
        scene.write("a.jsonl.gz", gzip(row.repeat(3000)));
        scene.write("b.jsonl", row.repeat(1000));

        assertThat(scene.prepare().manifest().shards())
                .extracting(Manifest.Shard::rows)
                .isEqualTo(Collections.nCopies(4, 1000L));
    }

    private void quarantine() {
        scene.policy = new Policy(
                3,
                10,
                1,
                3,
                Duration.ZERO,
                Duration.ZERO,
                new BadRecords(OnBadRecord.QUARANTINE, null, null),
                Poison.DEFAULT);
    }

    private static void write(Scene scene, Map<String, byte[]> files) throws IOException {
        for (Map.Entry<String, byte[]> file : files.entrySet()) {
            scene.write(file.getKey(), file.getValue());
        }
    }

    private static void append(Path file, byte[] more) {
        try {
            Files.write(file, more, StandardOpenOption.APPEND);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private static byte[] cut(byte[] whole) {
        return Arrays.copyOf(whole, whole.length - 100);
    }

    private static byte[] flipped(byte[] whole) {
        byte[] flipped = whole.clone();
        flipped[whole.length / 2] ^= 0x10;
        return flipped;
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
