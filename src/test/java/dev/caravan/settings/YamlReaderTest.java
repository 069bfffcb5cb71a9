package dev.caravan.settings;

import static org.assertj.core.api.Assertions.assertThat;

import dev.caravan.settings.YamlNode.Entry;
import dev.caravan.settings.YamlNode.Items;
import dev.caravan.settings.YamlNode.Mapping;
import dev.caravan.settings.YamlNode.Nothing;
import dev.caravan.settings.YamlNode.Scalar;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class YamlReaderTest {
    private final Problems problems = new Problems();

    @Test
    void keys_and_values_keep_their_lines_and_their_spelling() {
        Mapping read = read("a: 010\n# why\nb:\n  - 'x'\n  - ~\nc:\n  d: yes\n");

        assertThat(read.entries())
                .containsExactly(
                        new Entry("a", 1, new Scalar(1, "010", false)),
                        new Entry("b", 3, new Items(4, List.of(new Scalar(4, "x", true), new Nothing(5)))),
                        new Entry("c", 6, new Mapping(7, List.of(new Entry("d", 7, new Scalar(7, "yes", false))))));
        assertThat(problems.list()).isEmpty();
    }

    @Test
    void json_is_read_too_with_tabs_between_its_values() {
        Mapping read = read("{\n\t\"a\":\t1,\n\t\"b\": \"x\\ty\\u00e9\\ud83d\\ude00\"\n}\n");

        assertThat(read.entries())
                .containsExactly(
                        new Entry("a", 2, new Scalar(2, "1", false)),
                        new Entry("b", 3, new Scalar(3, "x\tyé😀", true)));
        assertThat(problems.list()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "a: 1\\nb: 2\\na: 3 | f:3: a: given twice, first in line 1; remove one",
                "a:\\n  b: 1\\n  b: 2 | f:3: a.b: given twice, first in line 2; remove one",
                "a: &x 1\\nb: *x | f:1: a: anchors (&x) are not supported; write the value out",
                "&x a: 1\\nb: &y [*y] | f:2: b: anchors (&y) are not supported; write the value out",
                "a: 1\\nb: !!java.net.URL [x] | f:2: b: tags (tag:yaml.org,2002:java.net.URL) are not supported",
                "a: [1, 2 | not valid YAML while parsing a flow sequence",
                "a: 1\\n b: 2 | f:2: not valid YAML",
                "a: 1\\n---\\nb: 2 | f:2: not valid YAML",
                "a: \\t x: 1 | f:1: not valid YAML",
                "- a | f:1: expected keys and values (key: value), found a list",
                "hello | f:1: expected keys and values (key: value), found 'hello'",
                "a: 1\\n? [b]\\n: 2 | f:2: expected a name before ':', found a list or section"
            })
    void what_hides_its_meaning_is_refused(String yaml, String expected) {
        read(yaml.replace("\\n", "\n").replace("\\t", "\t"));

        assertThat(problems.list()).isNotEmpty().first().asString().contains(expected);
    }

    @Test
    void text_of_another_encoding_is_refused_with_its_line() {
        YamlReader.read("a: 1\nb: é\n".getBytes(StandardCharsets.ISO_8859_1), "f", problems);

        assertThat(problems.list())
                .containsExactly("f:2: expected UTF-8 text, found byte 0xE9 at offset 8; save the file as UTF-8");
    }

    @Test
    void a_character_cut_off_at_the_end_is_refused() {
        YamlReader.read(new byte[] {'a', ':', ' ', (byte) 0xC3}, "f", problems);

        assertThat(problems.list())
                .containsExactly("f:1: expected UTF-8 text, found byte 0xC3 at offset 3; save the file as UTF-8");
    }

    @Test
    void a_byte_order_mark_is_no_part_of_the_text() {
        assertThat(read("\uFEFF{\"a\":\n\t1}").entries()).containsExactly(new Entry("a", 1, new Scalar(2, "1", false)));
        assertThat(read("\uFEFFa: 1\n").entries()).containsExactly(new Entry("a", 1, new Scalar(1, "1", false)));
    }

    @Test
    void an_empty_document_has_no_keys() {
        assertThat(read("# nothing here\n").entries()).isEmpty();
        assertThat(read("").entries()).isEmpty();
        assertThat(problems.list()).isEmpty();
    }

    private Mapping read(String yaml) {
        return YamlReader.read(yaml.getBytes(StandardCharsets.UTF_8), "f", problems);
    }
}
