package dev.caravan.jsonl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MembersTest {
    private static final JsonMapper JACKSON = new JsonMapper();

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
            {"k":1}                              | 1
            {"k" : "a,}]b" , "z":2}              | "a,}]b"
            ` { "a":[{"k":0}] ,"k":[1, {"x":[]}] } ` | [1, {"x":[]}]
            {"k":1,"k":2,"z":3}                  | 2
            {"\\u006b":-1.5e3}                   | -1.5e3
            {"kk":1,"k":null}                    | null
            {"k":{"a":"\\\\"}}                   | {"a":"\\\\"}
            {"a\\"k":1,"k":true}                 | true
            """)
    void finds_the_last_value_of_a_key_of_the_record_itself(String json, String value) {
        assertThat(valueOf(json, "k")).isEqualTo(value);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
            {}
            {"a":{"k":1}}
            {"a":"k","K":1}
            {"kk":[],"":0}
            """)
    void an_absent_key_has_no_value(String json) {
        assertThat(Members.find(line(json), new Members.Keys(List.of("k"))).value(0))
                .isEmpty();
    }

    @Test
    void keys_beyond_ascii_are_compared_as_text() {
        assertThat(valueOf("{\"\\u4e2d\\ud83d\\ude00\":1}", "中\uD83D\uDE00")).isEqualTo("1");
        assertThat(valueOf("{\"中\uD83D\uDE00\":2}", "中\uD83D\uDE00")).isEqualTo("2");
        assertThat(valueOf("{\"a/b\":3,\"a\\/b\":4}", "a/b")).isEqualTo("4");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
            {}                    | {"i":7}
            { }                   | { "i":7}
            {"a":1}               | {"a":1,"i":7}
            `  {"a":[1] } `       | `  {"a":[1],"i":7 } `
            {"b":1,"a":2,"b":3.0} | {"b":1,"a":2,"b":3.0,"i":7}
            """)
    void a_member_is_added_behind_the_last_one(String json, String expected) {
        Line line = line(json);
        Splice change = Members.find(line, new Members.Keys(List.of())).append(List.of("i"), "7");

        assertThat(text(Splice.apply(line, List.of(change)))).isEqualTo(expected);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
            {}      | {"i":7,"j":7}
            {"a":1} | {"a":1,"i":7,"j":7}
            """)
    void several_members_are_added_in_order(String json, String expected) {
        Line line = line(json);
        Splice change = Members.find(line, new Members.Keys(List.of())).append(List.of("i", "j"), "7");

        assertThat(text(Splice.apply(line, List.of(change)))).isEqualTo(expected);
    }

    @Test
    void the_name_of_an_added_member_is_escaped() throws IOException {
        Line line = line("{}");
        Splice change = Members.find(line, new Members.Keys(List.of())).append(List.of("q\"\\\n中"), "7");

        assertThat(JACKSON.readTree(Splice.apply(line, List.of(change)))
                        .get("q\"\\\n中")
                        .asInt())
                .isEqualTo(7);
    }

    @Test
    void changes_that_overlap_go_backwards_or_leave_the_record_are_refused() {
        Line line = line("{\"a\":12}");
        Splice first = new Splice(5, 7, new byte[0]);

        assertThatThrownBy(() -> Splice.apply(line, List.of(first, new Splice(6, 7, new byte[0]))))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> Splice.apply(line, List.of(new Splice(5, 9, new byte[0]))))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void a_list_of_strings_gives_the_place_of_each() {
        Line line = line("{\"k\":[ \"a\\\"]\" ,\"\", \"中\"]}");
        StringList list = StringList.read(line, span(line, "k"));

        assertThat(list)
                .isInstanceOfSatisfying(
                        StringList.Items.class,
                        found -> assertThat(found.items())
                                .extracting(item -> text(line, item))
                                .containsExactly("a\\\"]", "", "中"));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
            {"k":"a"}             | 5
            {"k":1}               | 5
            {"k":{"a":"b"}}       | 5
            {"k":["a", null]}     | 11
            {"k":[["a"]]}         | 6
            """)
    void anything_but_a_list_of_strings_or_null_is_something_else(String json, int at) {
        Line line = line(json);

        assertThat(StringList.read(line, span(line, "k"))).isEqualTo(new StringList.SomethingElse(at));
        assertThat(StringList.read(line("{\"k\":null}"), new Members.Span(5, 9)))
                .isEqualTo(new StringList.Items(List.of()));
    }

    @Test
    void agrees_with_jackson_and_changes_nothing_else_in_random_records() throws IOException {
        long seed = Long.getLong("caravan.seed", System.nanoTime());
        System.out.println("MembersTest seed " + seed);
        Random random = new Random(seed);
        RandomJson json = new RandomJson(random);
        for (int k = 0; k < 20_000; k++) {
            String text = "x".repeat(random.nextInt(3)) + json.space() + json.object(4) + json.space();
            byte[] b = (text + "\"}],").getBytes(StandardCharsets.UTF_8);
            int from = text.indexOf('{');
            Line line = new Line(b, from, b.length - 4, 1, 0, true);
            JsonNode tree = JACKSON.readTree(b, from, line.length());
            List<String> keys = new ArrayList<>(List.of("surely absent"));
            tree.fieldNames().forEachRemaining(keys::add);

            checkValues(seed, line, tree, keys);
            checkReplacement(seed, line, tree, keys, random);
        }
    }

    private static void checkValues(long seed, Line line, JsonNode tree, List<String> keys) throws IOException {
        Members members = Members.find(line, new Members.Keys(keys));
        for (int key = 0; key < keys.size(); key++) {
            JsonNode expected = tree.get(keys.get(key));
            assertThat(members.value(key).isPresent()).as("seed %d", seed).isEqualTo(expected != null);
            if (expected != null) {
                Members.Span span = members.value(key).orElseThrow();
                assertThat(JACKSON.readTree(text(line, span)))
                        .as("seed %d", seed)
                        .isEqualTo(expected);
            }
        }
    }

    private static void checkReplacement(long seed, Line line, JsonNode tree, List<String> keys, Random random) {
        Members members = Members.find(line, new Members.Keys(keys));
        List<Members.Span> spans = new ArrayList<>();
        for (int key = 0; key < keys.size(); key++) {
            if (random.nextBoolean()) {
                members.value(key).ifPresent(spans::add);
            }
        }
        spans.sort(Comparator.comparing(Members.Span::from));
        byte[] with = "[\"new\"]".getBytes(StandardCharsets.UTF_8);
        List<Splice> changes =
                spans.stream().map(s -> new Splice(s.from(), s.to(), with)).toList();

        byte[] changed = Splice.apply(line, changes);

        assertThat(new RecordCheck().check(changed, 0, changed.length))
                .as("seed %d", seed)
                .isEmpty();
        StringBuilder expected = new StringBuilder();
        int read = line.from();
        for (Members.Span span : spans) {
            expected.append(text(line, new Members.Span(read, span.from()))).append("[\"new\"]");
            read = span.to();
        }
        expected.append(text(line, new Members.Span(read, line.to())));
        assertThat(text(changed)).as("seed %d", seed).isEqualTo(expected.toString());
        assertThat(tree.size()).isGreaterThanOrEqualTo(spans.size());
    }

    private static String valueOf(String json, String key) {
        Line line = line(json);
        return text(line, span(line, key));
    }

    private static Members.Span span(Line line, String key) {
        return Members.find(line, new Members.Keys(List.of(key))).value(0).orElseThrow();
    }

    private static Line line(String json) {
        byte[] b = json.getBytes(StandardCharsets.UTF_8);
        assertThat(new RecordCheck().check(b, 0, b.length)).isEmpty();
        return new Line(b, 0, b.length, 1, 0, true);
    }

    private static String text(Line line, Members.Span span) {
        return new String(line.buffer(), span.from(), span.to() - span.from(), StandardCharsets.UTF_8);
    }

    private static String text(byte[] b) {
        return new String(b, StandardCharsets.UTF_8);
    }
}
