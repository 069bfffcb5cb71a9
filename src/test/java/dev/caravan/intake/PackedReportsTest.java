package dev.caravan.intake;

import static dev.caravan.packing.Packed.gzip;
import static dev.caravan.packing.Packed.join;
import static dev.caravan.packing.Packed.zstd;
import static org.assertj.core.api.Assertions.assertThat;

import dev.caravan.shard.Manifest;
import java.io.IOException;
import java.util.Arrays;
import java.util.Collections;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Kind Z of the public reports: compressed input. */
class PackedReportsTest extends PublicReports {
    static Stream<Arguments> every_record_comes_through_as_it_was_in_one_shard_and_in_two() throws IOException {
        byte[] plain = gzip("{\"i\":9}\n");
        byte[] extra = join(
                new byte[] {0x1F, (byte) 0x8B, 8, 4, 0, 0, 0, 0, 0, 3, 6, 0, 'B', 'C', 2, 0, 55, 0},
                Arrays.copyOfRange(plain, 10, plain.length));
        return Stream.of(
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
                        join(extra, extra)));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource
    void every_record_comes_through_as_it_was_in_one_shard_and_in_two(
            String id, Map<String, byte[]> files, String expected) throws IOException {
        comesThrough(files, expected);
    }

    static Stream<Arguments> what_is_no_record_is_refused_with_file_and_place_and_nothing_is_made() throws IOException {
        return Stream.of(
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
                        gzip("{}\n")));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource
    void what_is_no_record_is_refused_with_file_and_place_and_nothing_is_made(
            String id, Map<String, byte[]> files, String message) throws IOException {
        isRefused(files, message);
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

    private static byte[] cut(byte[] whole) {
        return Arrays.copyOf(whole, whole.length - 100);
    }

    private static byte[] flipped(byte[] whole) {
        byte[] flipped = whole.clone();
        flipped[whole.length / 2] ^= 0x10;
        return flipped;
    }
}
