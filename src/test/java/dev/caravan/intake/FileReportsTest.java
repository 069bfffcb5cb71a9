package dev.caravan.intake;

import static dev.caravan.packing.Packed.gzip;
import static dev.caravan.packing.Packed.zstd;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.caravan.shard.Manifest;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Kind F of the public reports: files and folders. */
class FileReportsTest extends PublicReports {
    static Stream<Arguments> every_record_comes_through_as_it_was_in_one_shard_and_in_two() throws IOException {
        return Stream.of(
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
                        gzip(numbered(9, 10))));
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
                        "F08 a line feed in a name",
                        "have names that hold control characters: a\\x0ab.jsonl. Rename",
                        "a\nb.jsonl",
                        "",
                        "a",
                        "",
                        "b.jsonl",
                        "{}\n"),
                report("F10 no file matches", "no input in folder ", "x.json", "{}\n", "xjsonl.gz", "x"));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource
    void what_is_no_record_is_refused_with_file_and_place_and_nothing_is_made(
            String id, Map<String, byte[]> files, String message) throws IOException {
        isRefused(files, message);
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
    @DisplayName("F09 files of names that are not UTF-8 are left out, all by name, and others go on")
    void names_that_are_not_utf8() throws Exception {
        scene.write("a.jsonl", numbered(0, 2));
        scene.write("d\u00e9/b.jsonl", numbered(2, 3));
        shell("mkdir $'l\\xe9'; for f in $'\\xff\\xfe' $'\\xff\\xfd' $'\\xc3\\xa9\\xc3' $'l\\xe9/x' "
                + "1$'\\xff' 2$'\\xff' 3$'\\xff' 4$'\\xff' 5$'\\xff' 6$'\\xff' 7$'\\xff'; do "
                + "echo '{}' > $f.jsonl; done; touch $'\\xff.txt'");

        Manifest manifest = scene.prepare().manifest();

        assertThat(String.join("", scene.shardTexts(manifest))).isEqualTo(numbered(0, 3));
        assertThat(manifest.warnings())
                .containsExactly(
                        "input files left out, since their names are not UTF-8, which is not supported (11; rename them"
                                + " to have them read): 1\\xff.jsonl, 2\\xff.jsonl, 3\\xff.jsonl, 4\\xff.jsonl,"
                                + " 5\\xff.jsonl, 6\\xff.jsonl, 7\\xff.jsonl, \\xff\\xfd.jsonl, \\xff\\xfe.jsonl,"
                                + " l\\xe9/x.jsonl, \u00e9\\xc3.jsonl",
                        "skipped in the input folder (1 not .jsonl, .ndjson, or that and .gz or .zst): \\xff.txt");
    }

    @Test
    @DisplayName("F09 a folder of nothing else is no input, and says why")
    void nothing_but_names_that_are_not_utf8() throws Exception {
        shell("echo '{}' > $'\\xff.jsonl'");

        assertThatThrownBy(scene::prepare)
                .isInstanceOf(IntakeException.class)
                .hasMessageContaining("no input in folder ")
                .hasMessageContaining("names are not UTF-8, which is not supported (1; rename them to have them read):"
                        + " \\xff.jsonl");
    }

    private void shell(String script) throws Exception {
        assertThat(new ProcessBuilder("bash", "-ec", script)
                        .directory(scene.input.toFile())
                        .inheritIO()
                        .start()
                        .waitFor())
                .isZero();
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

    private static void append(Path file, byte[] more) {
        try {
            Files.write(file, more, StandardOpenOption.APPEND);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }
}
