package dev.caravan.packing;

import static dev.caravan.packing.Packed.gzip;
import static dev.caravan.packing.Packed.join;
import static dev.caravan.packing.Packed.zstd;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.caravan.CaravanException;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

class PackingTest {
    /** A frame that readers pass over: pzstd writes such. */
    private static final byte[] SKIPPABLE = {0x50, 0x2A, 0x4D, 0x18, 3, 0, 0, 0, 'x', 'y', 'z'};

    static Stream<Arguments> sources() throws IOException {
        String text = "{\"t\":\"" + "lorem ipsum ".repeat(20_000) + "\"}\n";
        byte[] noise = new byte[300_000];
        new Random(7).nextBytes(noise);
        byte[] extra = gzip(text);
        byte[] header = {0x1F, (byte) 0x8B, 8, 4 | 8 | 16 | 2, 0, 0, 0, 0, 0, 3, 3, 0, 'B', 'C', 1};
        byte[] named = join(
                header,
                "name.jsonl\0a comment\0".getBytes(StandardCharsets.ISO_8859_1),
                new byte[] {9, 9},
                Arrays.copyOfRange(extra, 10, extra.length));
        return Stream.of(
                Arguments.of("gzip", Packing.GZIP, gzip(text), bytes(text)),
                Arguments.of("gzip, members", Packing.GZIP, join(gzip("a"), gzip(""), gzip("bc")), bytes("abc")),
                Arguments.of("gzip of nothing", Packing.GZIP, gzip(""), bytes("")),
                Arguments.of("gzip, 0 bytes", Packing.GZIP, bytes(""), bytes("")),
                Arguments.of("gzip of noise", Packing.GZIP, join(gzip(noise), gzip(noise)), join(noise, noise)),
                Arguments.of("gzip, every field", Packing.GZIP, join(named, named), bytes(text + text)),
                Arguments.of("zstd", Packing.ZSTD, zstd(text), bytes(text)),
                Arguments.of("zstd, frames", Packing.ZSTD, join(zstd("a"), zstd(""), zstd("bc")), bytes("abc")),
                Arguments.of("zstd, skippable", Packing.ZSTD, join(SKIPPABLE, zstd("a"), SKIPPABLE), bytes("a")),
                Arguments.of("zstd of nothing", Packing.ZSTD, zstd(""), bytes("")),
                Arguments.of("zstd, 0 bytes", Packing.ZSTD, bytes(""), bytes("")),
                Arguments.of("zstd of noise", Packing.ZSTD, join(zstd(noise), zstd(noise)), join(noise, noise)),
                Arguments.of("plain", Packing.NONE, bytes("abc"), bytes("abc")));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("sources")
    void gives_all_text_however_the_bytes_come_and_are_asked_for(String name, Packing kind, byte[] packed, byte[] text)
            throws IOException {
        for (int piece : new int[] {1, 7, 1 << 16}) {
            for (int asked : new int[] {5, 1 << 18}) {
                try (InputStream in = kind.open("x", new Trickle(packed, piece))) {
                    assertThat(readAll(in, asked)).isEqualTo(text);
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"GZIP", "ZSTD"})
    void a_source_that_is_cut_anywhere_is_damaged(Packing kind) throws IOException {
        byte[] packed = kind == Packing.GZIP ? join(gzip("ab"), gzip("cdef")) : join(zstd("ab"), zstd("cdef"));
        int firstPart = (kind == Packing.GZIP ? gzip("ab") : zstd("ab")).length;

        for (int length = 1; length < packed.length; length++) {
            InputStream in = kind.open("in/x", new ByteArrayInputStream(packed, 0, length));
            if (length == firstPart) {
                assertThat(readAll(in, 100)).isEqualTo(bytes("ab"));
                continue;
            }
            assertThatThrownBy(() -> readAll(in, 100))
                    .as("cut to " + length)
                    .isInstanceOf(DamagedException.class)
                    .hasMessageStartingWith("in/x cannot be unpacked: ")
                    .hasMessageContaining("the compressed data end early at compressed byte " + length + ", behind ");
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"GZIP", "ZSTD"})
    void a_flipped_bit_in_data_or_checksum_is_damage(Packing kind) throws IOException {
        String text = "{\"a\":1}\n{\"b\":\"some text that is longer\"}\n";
        byte[] packed = kind == Packing.GZIP ? gzip(text) : zstd(text);
        int dataFrom = kind == Packing.GZIP ? 10 : 6;

        for (int at = dataFrom; at < packed.length; at++) {
            byte[] flipped = packed.clone();
            flipped[at] ^= 4;
            InputStream in = kind.open("in/x", new ByteArrayInputStream(flipped));
            boolean padding =
                    kind == Packing.GZIP && at == packed.length - 9; // the last bits of deflate may mean nothing
            if (!padding) {
                assertThatThrownBy(() -> readAll(in, 1000)).as("byte " + at).isInstanceOf(DamagedException.class);
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"GZIP, 1000000", "ZSTD, 1000000"})
    void damage_far_behind_the_start_is_told_with_both_offsets(Packing kind, int noisy) throws IOException {
        byte[] noise = new byte[noisy];
        new Random(1).nextBytes(noise);
        byte[] packed = kind == Packing.GZIP ? gzip(noise) : zstd(noise);
        byte[] twice = join(packed, packed);
        twice[twice.length - 1] ^= 1;

        assertThatThrownBy(() -> readAll(kind.open("in/x", new ByteArrayInputStream(twice)), 1 << 18))
                .isInstanceOf(DamagedException.class)
                .satisfies(e -> {
                    String[] words = e.getMessage().split(" ");
                    assertThat(after(words, "byte")).isBetween(twice.length - 70_000L, (long) twice.length);
                    assertThat(after(words, "behind")).isBetween(2 * noisy - 140_000L, 2L * noisy);
                });
    }

    private static long after(String[] words, String word) {
        return Long.parseLong(words[Arrays.asList(words).indexOf(word) + 1].replace(",", ""));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            GZIP | {"a":1} | expected gzip data, as the name says, found something else; if it is text, remove .gz from
            ZSTD | {"a":1} | expected zstd data, as the name says, found something else or corrupt data
            """)
    void text_under_the_name_of_a_packed_file_is_told_in_one_sentence(Packing kind, String text, String message) {
        assertThatThrownBy(() -> readAll(kind.open("in/x", new ByteArrayInputStream(bytes(text))), 100))
                .isInstanceOf(DamagedException.class)
                .hasMessageStartingWith("in/x cannot be unpacked: " + message)
                .hasMessageContaining(" at compressed byte 0, behind 0 bytes of text.");
    }

    @ParameterizedTest
    @EnumSource(names = {"GZIP", "ZSTD"})
    void what_follows_a_part_and_is_no_part_is_damage_and_not_ignored(Packing kind) throws IOException {
        byte[] part = kind == Packing.GZIP ? gzip("ab") : zstd("ab");

        assertThatThrownBy(() ->
                        readAll(kind.open("in/x", new ByteArrayInputStream(join(part, bytes("something else")))), 100))
                .isInstanceOf(DamagedException.class)
                .hasMessageContaining("at compressed byte " + part.length + ", behind 2 bytes of text");
    }

    @Test
    void a_zstd_window_beyond_128_mebibytes_is_refused_and_not_allocated() {
        byte[] streamed = {0x28, (byte) 0xB5, 0x2F, (byte) 0xFD, 0, (byte) ((28 - 10) << 3), 1, 0, 0};

        assertThatThrownBy(() -> readAll(Packing.ZSTD.open("in/x", new ByteArrayInputStream(streamed)), 100))
                .isInstanceOf(CaravanException.class)
                .hasMessageContaining("memory");
    }

    @ParameterizedTest
    @CsvSource({"x.jsonl, NONE", "x.jsonl.gz, GZIP", "X.JSONL.GZ, GZIP", "a.gz/x.ndjson.zst, ZSTD", "x.gz.jsonl, NONE"})
    void the_name_tells_the_packing(String name, Packing expected) {
        assertThat(Packing.of(Path.of(name))).isEqualTo(expected);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static byte[] readAll(InputStream in, int asked) throws IOException {
        java.io.ByteArrayOutputStream all = new java.io.ByteArrayOutputStream();
        byte[] buffer = new byte[asked];
        for (int read = in.read(buffer, 0, asked); read >= 0; read = in.read(buffer, 0, asked)) {
            assertThat(read).isPositive();
            all.write(buffer, 0, read);
        }
        return all.toByteArray();
    }

    /** Gives a few bytes at a time and says that none is available, as a network may. */
    private static final class Trickle extends ByteArrayInputStream {
        private final int most;

        Trickle(byte[] bytes, int most) {
            super(bytes);
            this.most = most;
        }

        @Override
        public synchronized int read(byte[] b, int from, int length) {
            return super.read(b, from, Math.min(length, most));
        }

        @Override
        public synchronized int available() {
            return 0;
        }
    }
}
