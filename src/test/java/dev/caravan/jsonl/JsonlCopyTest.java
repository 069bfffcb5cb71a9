package dev.caravan.jsonl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class JsonlCopyTest {
    private static final String SOURCE = "in/x.jsonl";

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            {"a":1}\\n{"a":2}\\n                     | {"a":1}\\n{"a":2}\\n
            {"a":1}\\n{"a":2}                        | {"a":1}\\n{"a":2}\\n
            {"a":1}\\r\\n{"a":2}\\r\\n{"a":3}\\r     | {"a":1}\\n{"a":2}\\n{"a":3}\\n
            <bom>{"a":1}\\n{"a":2}                  | {"a":1}\\n{"a":2}\\n
            {"a":1}\\n\\n\\r\\n  \\t\\n              | {"a":1}\\n
            \\n{"a":1}\\n\\n   \\n{"a":2}\\r\\n\\r\\n | {"a":1}\\n{"a":2}\\n
            \\n\\n                                   | ''
            ''                                       | ''
            <bom>                                   | ''
            {"t":"a<2028>b<85>c<2029>d"}\\n        | {"t":"a<2028>b<85>c<2029>d"}\\n
            {"z" : 1.0,"a":[ 1e2 ],"z":"\\u0041"}    | {"z" : 1.0,"a":[ 1e2 ],"z":"\\u0041"}\\n
            """)
    void writes_each_record_unchanged_with_one_line_feed(String in, String expected) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();

        Tally tally = JsonlCopy.copy(SOURCE, stream(unescaped(in)), out);

        String expectedText = unescaped(expected);
        assertThat(out.toString(StandardCharsets.UTF_8)).isEqualTo(expectedText);
        assertThat(tally).isEqualTo(tallyOf(expectedText));
        assertThat(JsonlCopy.verify(SOURCE, stream(unescaped(in)))).isEqualTo(tally);
    }

    @Test
    void blanks_around_a_record_belong_to_it() throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();

        JsonlCopy.copy(SOURCE, stream("  {\"a\":1}\t\r\r\n"), out);

        assertThat(out.toString(StandardCharsets.UTF_8)).isEqualTo("  {\"a\":1}\t\r\n");
    }

    @Test
    void several_sources_become_one_and_none_runs_into_the_next() throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        RecordWriter writer = new RecordWriter(out);

        long first = JsonlCopy.append("0.jsonl", stream("{\"f\":0}"), writer);
        long empty = JsonlCopy.append("1.jsonl", stream(""), writer);
        long second = JsonlCopy.append("2.jsonl", stream("\uFEFF{\"f\":1}\n\n"), writer);

        assertThat(List.of(first, empty, second)).containsExactly(1L, 0L, 1L);
        assertThat(writer.tally()).isEqualTo(tallyOf("{\"f\":0}\n{\"f\":1}\n"));
        assertThat(out.toString(StandardCharsets.UTF_8)).isEqualTo("{\"f\":0}\n{\"f\":1}\n");
    }

    @Test
    void an_error_names_source_line_byte_reason_and_text_of_the_first_bad_lines() {
        byte[] in =
                "{\"t\":\"ok\"}\n\u00ff\n[]\n42\n\"s\"\nnull\n{\"t\":\"ok2\"}\n".getBytes(StandardCharsets.ISO_8859_1);

        assertThatThrownBy(() -> JsonlCopy.verify(SOURCE, new ByteArrayInputStream(in)))
                .isInstanceOf(BadJsonlException.class)
                .hasMessage("""
                        in/x.jsonl is not JSON Lines: expected one JSON object in UTF-8 on each line, found (first 5 shown):
                          line 2, byte 11 (column 1): not UTF-8 (byte 0xff); found: \\xff
                          line 3, byte 13 (column 1): not an object but an array; each line must be one JSON object; found: []
                          line 4, byte 16 (column 1): not an object but a number; each line must be one JSON object; found: 42
                          line 5, byte 19 (column 1): not an object but a string; each line must be one JSON object; found: "s"
                          line 6, byte 23 (column 1): not an object but null; each line must be one JSON object; found: null
                        Correct or remove these lines and try again.""");
    }

    @Test
    void only_the_first_five_bad_lines_are_listed() {
        assertThat(badLines("x\n".repeat(1000))).extracting(BadLine::line).containsExactly(1L, 2L, 3L, 4L, 5L);
    }

    @Test
    void all_bad_lines_of_a_short_list_are_found_past_good_ones() {
        assertThat(badLines("x\n" + "{}\n".repeat(100_000) + "y\n{}\n"))
                .extracting(BadLine::line)
                .containsExactly(1L, 100_002L);
    }

    @Test
    void offsets_count_the_byte_order_mark_and_carriage_returns() {
        assertThat(badLines("\uFEFF{\"a\":1}\r\n{\"a\":x}\r\n")).singleElement().satisfies(bad -> {
            assertThat(bad.offset()).isEqualTo(3 + 9 + 5);
            assertThat(bad.column()).isEqualTo(6);
        });
    }

    @Test
    void the_text_shown_is_short_printable_and_near_the_flaw() {
        String line = "{\"a\":\"" + "中".repeat(50) + "\u2028\u202e\u0007" + "y".repeat(500) + "\"}";

        BadLine bad = badLines(line + "\n").get(0);

        assertThat(bad.found())
                .startsWith("...中")
                .contains("中\\u2028\\u202e\\x07yyy")
                .endsWith("y...");
        assertThat(bad.found().length()).isLessThanOrEqualTo(80);
        assertThat(bad.offset()).isEqualTo(6 + 150 + 6);
    }

    @Test
    void a_hole_of_nul_bytes_is_one_bad_line_and_is_not_copied_into_the_message() {
        String in = "{\"a\":1}\n" + "\0".repeat(1_000_000) + "{\"a\":2}\n{\"a\":3}\n";

        assertThatThrownBy(() -> JsonlCopy.verify(SOURCE, stream(in)))
                .hasMessageContaining("line 2, byte 8 (column 1): not an object but NUL bytes")
                .message()
                .hasSizeLessThan(400);
    }

    @Test
    void a_last_line_without_end_that_is_broken_hints_at_a_file_still_being_written() {
        assertThatThrownBy(() -> JsonlCopy.verify(SOURCE, stream("{\"a\":1}\n{\"a\":\"ha")))
                .hasMessageContaining("is it still being written?");
        assertThatThrownBy(() -> JsonlCopy.verify(SOURCE, stream("{\"a\":1}\n{\"a\":\"ha\n")))
                .message()
                .doesNotContain("still being written");
    }

    @Test
    void a_record_of_120_megabytes_between_short_ones_passes() throws IOException {
        byte[] text = new byte[120 << 20];
        Arrays.fill(text, (byte) 'A');
        InputStream in = new java.io.SequenceInputStream(java.util.Collections.enumeration(
                List.of(stream("{\"i\":0}\n{\"t\":\""), new ByteArrayInputStream(text), stream("\"}\n{\"i\":2}\n"))));

        Tally tally = JsonlCopy.copy(SOURCE, in, OutputStream.nullOutputStream());

        assertThat(tally.rows()).isEqualTo(3);
        assertThat(tally.bytes()).isEqualTo(8 + 6 + text.length + 3 + 8);
    }

    private static List<BadLine> badLines(String in) {
        return assertThatThrownBy(() -> JsonlCopy.verify(SOURCE, stream(in)))
                .asInstanceOf(InstanceOfAssertFactories.type(BadJsonlException.class))
                .actual()
                .lines();
    }

    private static Tally tallyOf(String text) {
        try {
            byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
            String sha256 = HexFormat.of()
                    .formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
            return new Tally(text.chars().filter(c -> c == '\n').count(), bytes.length, sha256);
        } catch (java.security.NoSuchAlgorithmException e) {
            throw new AssertionError(e);
        }
    }

    private static InputStream stream(String text) {
        return new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8));
    }

    private static String unescaped(String text) {
        return text.replace("\\n", "\n")
                .replace("\\r", "\r")
                .replace("\\t", "\t")
                .replace("<bom>", "\uFEFF")
                .replace("<2028>", "\u2028")
                .replace("<2029>", "\u2029")
                .replace("<85>", "\u0085");
    }
}
