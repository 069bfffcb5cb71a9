package dev.caravan.jsonl;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.Optional;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RecordCheckTest {
    private static final JsonMapper JACKSON = JsonMapper.builder(JsonFactory.builder()
                    .streamReadConstraints(StreamReadConstraints.builder()
                            .maxNestingDepth(RecordCheck.MAX_DEPTH)
                            .build())
                    .build())
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();

    private static final ObjectReader STRICT =
            JACKSON.reader().with(StreamReadFeature.STRICT_DUPLICATE_DETECTION.mappedFeature());

    private final RecordCheck check = new RecordCheck();

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{}",
                " \t{ } \r",
                "{\"a\":1}",
                "{\"a\":[],\"b\":{},\"c\":[[1,2],{\"d\":null}]}",
                "{\"m\":\"x\\ud835y\"}",
                "{\"b\":1,\"a\":2,\"b\":3}",
                "{\"id\":9999999999999999999999999999999999,\"f\":0.1000000000000000055,\"g\":-0}",
                "{\"t\":\"a\u2028b\u2029c\u0085d\u007f\"}",
                "{\"\":\"\"}",
                "{\"e\":1E+5,\"f\":1e-05,\"g\":0.0,\"h\":true,\"i\":false,\"j\":null}",
                "{\"k\":\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\"}",
                "{\"t\":\"\uD83D\uDE00\uDBFF\uDFFF\uE000\uFFFF\"}"
            })
    void accepts_every_valid_object(String json) {
        assertThat(flaw(json)).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
            []                    | 0  | not an object but an array
            ["hello","world"]     | 0  | not an object but an array
            42                    | 0  | not an object but a number
            "s"                   | 0  | not an object but a string
            null                  | 0  | not an object but null
            true                  | 0  | not an object but true or false
            `  [1]`               | 2  | not an object but an array
            {                     | 0  | not one record per line: the line holds only '{'
            `[ `                  | 0  | not one record per line: the line holds only '['
            hello                 | 0  | broken JSON: each line must be one JSON object
            {"v":NaN}             | 5  | NaN and Infinity are not JSON
            {"v":Infinity}        | 5  | NaN and Infinity are not JSON
            {"v":-Infinity}       | 6  | NaN and Infinity are not JSON
            {"a":1}{"b":2}        | 7  | a second object on the same line
            {"a":1} x             | 8  | more text after the end
            {"a":1},              | 7  | more text after the end
            {"a":1                | 6  | ends with 1 level(s) of nesting still open
            {"a":[{"b":1          | 12 | ends with 3 level(s) of nesting still open
            {"a":"bc              | 5  | the line ends inside a string
            {"a                   | 1  | the line ends inside a string
            {"a"                  | 4  | expected ':' after a key, found the end of the line
            {"a" 1}               | 5  | expected ':' after a key
            {a:1}                 | 1  | expected a key in double quotes
            {'a':1}               | 1  | expected a key in double quotes
            {"a":1,}              | 7  | expected a key in double quotes
            {,}                   | 1  | expected a key in double quotes
            {"a":[1,]}            | 8  | expected a value
            {"a":[,1]}            | 6  | expected a value
            {"a":}                | 5  | expected a value
            {"a":1 "b":2}         | 7  | expected ',' or '}'
            {"a":[1 2]}           | 8  | expected ',' or ']'
            {"a":[1}              | 7  | expected ',' or ']'
            {"a":1]               | 6  | expected ',' or '}'
            {"a":01}              | 5  | leading zeros
            {"a":-}               | 5  | a minus sign without a number
            {"a":1.}              | 5  | without digits after the point
            {"a":.5}              | 5  | expected a value
            {"a":+5}              | 5  | expected a value
            {"a":1e}              | 5  | without digits in its exponent
            {"a":1e+}             | 5  | without digits in its exponent
            {"a":0x10}            | 6  | expected ',' or '}'
            {"a":tru}             | 5  | expected a value, such as true
            {"a":nul              | 5  | expected a value, such as null
            {"a":True}            | 5  | expected a value
            {"a":"\\x"}           | 6  | no escape of this letter
            {"a":"\\u12g4"}       | 6  | four hexadecimal digits
            {"a":"\\u12           | 6  | four hexadecimal digits
            {"a":"\\              | 6  | ends inside an escape
            // {"a":1}            | 0  | broken JSON
            """)
    void refuses_every_other_line_with_its_position(String json, int position, String reason) {
        assertThat(flaw(json)).hasValueSatisfying(flaw -> {
            assertThat(flaw.reason()).contains(reason);
            assertThat(flaw.position()).isEqualTo(position);
        });
    }

    @ParameterizedTest
    @CsvSource({
        "ff, 0, not UTF-8 (byte 0xff)",
        "c3, 0, not UTF-8 (byte 0xc3)",
        "7b2261223a22ff227d, 6, not UTF-8 (byte 0xff)",
        "7b2261223a22c0af227d, 6, not UTF-8 (byte 0xc0)", // overlong
        "7b2261223a22e08080227d, 6, not UTF-8 (byte 0xe0)", // overlong
        "7b2261223a22f0808080227d, 6, not UTF-8 (byte 0xf0)", // overlong
        "7b2261223a22eda080227d, 6, not UTF-8 (byte 0xed)", // a surrogate in UTF-8
        "7b2261223a22f4908080227d, 6, not UTF-8 (byte 0xf4)", // past U+10FFFF
        "7b2261223a22f5808080227d, 6, not UTF-8 (byte 0xf5)",
        "7b2261223a2280227d, 6, not UTF-8 (byte 0x80)",
        "7b2261223a22e4b8227d, 6, not UTF-8 (byte 0xe4)", // cut short
        "7b2261223a22e4b8, 6, not UTF-8 (byte 0xe4)",
        "7b2261223a31ff7d, 6, not UTF-8 (byte 0xff)",
        "7b2261223a31c3a97d, 6, 'expected '','' or ''}'''",
        "7b2261223a2201227d, 6, control characters in a string must be escaped",
        "7b2261223a2209227d, 6, control characters in a string must be escaped",
        "7b2261223a2200227d, 6, control characters in a string must be escaped",
        "00007b7d, 0, NUL bytes",
        "7b7d0000, 2, more text after the end",
        "7b0c7d, 1, expected a key",
        "efbbbf7b7d, 0, a byte order mark (EF BB BF) that is not at the start of the file",
        "fffe7b007d00, 0, looks like UTF-16",
        "feff007b, 0, looks like UTF-16",
        "1f8b0800, 0, compressed data",
        "28b52ffd00, 0, compressed data",
    })
    void refuses_bytes_that_are_not_text_of_json(String hex, int position, String reason) {
        byte[] line = HexFormat.of().parseHex(hex);

        assertThat(check.check(line, 0, line.length)).hasValueSatisfying(flaw -> {
            assertThat(flaw.reason()).contains(reason);
            assertThat(flaw.position()).isEqualTo(position);
        });
    }

    @Test
    void accepts_nesting_up_to_the_limit_and_refuses_one_level_more() {
        int inner = RecordCheck.MAX_DEPTH - 1;

        assertThat(flaw("{\"x\":" + "[".repeat(inner) + "]".repeat(inner) + "}"))
                .isEmpty();
        assertThat(flaw("{\"x\":" + "[".repeat(inner + 1) + "]".repeat(inner + 1) + "}"))
                .contains(new Flaw(5 + inner, "nested deeper than 1000 levels"));
    }

    @Test
    void a_hundred_thousand_levels_are_one_bad_record_and_not_a_stack_overflow() {
        assertThat(flaw("{\"x\":" + "[".repeat(100_000) + "]".repeat(100_000) + "}"))
                .isPresent();
        assertThat(flaw("{\"x\":1}")).as("the record after it").isEmpty();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
            {"b":1,"a":2,"b":3}                   | true
            {"b":1,"a":2,"c":3}                   | false
            {"a":{"b":1},"b":2}                   | false
            {"a":{"b":1,"c":[{"d":1,"d":1}]}}     | true
            {"a":[{"b":1},{"b":1}]}               | false
            {"a":{"x":1},"c":{"x":1},"a":3}       | true
            {"\\u0061bc":1,"abc":2}                | true
            {"\\u00e9":1,"é":2}                    | true
            {"\\ud835":1,"\\ud836":2}              | false
            {"":1,"":2}                           | true
            {"12345678":1,"12345678x":1}          | false
            {"12345678xyz":1,"12345678xyz":1}     | true
            """)
    void tells_whether_an_object_has_a_key_twice(String json, boolean repeats) {
        assertThat(flaw(json)).isEmpty();
        assertThat(check.repeatsKey()).isEqualTo(repeats);
    }

    @Test
    void tells_it_of_objects_of_very_many_keys() {
        for (int last : new int[] {123_456, 200_000}) {
            String keys = IntStream.concat(IntStream.range(0, 200_000), IntStream.of(last))
                    .mapToObj("\"k%d\":0"::formatted)
                    .collect(Collectors.joining(","));

            assertThat(flaw("{" + keys + "}")).isEmpty();
            assertThat(check.repeatsKey()).isEqualTo(last == 123_456);
        }
    }

    @Test
    void looks_only_at_the_bytes_it_is_given() {
        byte[] buffer = bytes("xx{\"a\":\"b\"}\"}yyyyyyyyyyyyyyyy");

        assertThat(check.check(buffer, 2, 11)).isEmpty();
        assertThat(check.check(buffer, 2, 9))
                .contains(new Flaw(5, "broken JSON: the line ends inside a string, which starts here"));
        assertThat(check.check(buffer, 2, 12)).map(Flaw::position).contains(9);
    }

    @Test
    void finds_the_special_byte_at_every_place_of_a_long_string() {
        for (int length = 1; length < 40; length++) {
            for (int at = 0; at < length; at++) {
                for (int special : new int[] {0x00, 0x1F, 0x80, 0xFF}) {
                    byte[] line = bytes("{\"a\":\"" + "x".repeat(length) + "\"}");
                    line[6 + at] = (byte) special;
                    assertThat(check.check(line, 0, line.length))
                            .map(Flaw::position)
                            .contains(6 + at);
                }
                for (int plain : new int[] {0x20, 0x21, 0x23, 0x5B, 0x5D, 0x7F}) {
                    byte[] line = bytes("{\"a\":\"" + "x".repeat(length) + "\"}");
                    line[6 + at] = (byte) plain;
                    assertThat(check.check(line, 0, line.length)).isEmpty();
                }
            }
        }
    }

    @Test
    void agrees_with_jackson_on_random_and_damaged_records() {
        long seed = Long.getLong("caravan.seed", System.nanoTime());
        System.out.println("RecordCheckTest seed " + seed);
        Random random = new Random(seed);
        RandomJson json = new RandomJson(random);
        int valid = 0;
        int invalid = 0;
        int repeating = 0;
        for (int k = 0; k < 60_000; k++) {
            String text = json.space() + json.object(5) + json.space();
            byte[] line = k % 3 == 0 ? bytes(text) : json.damaged(text);
            boolean expected = isObjectForJackson(line);
            Optional<Flaw> flaw = check.check(line, 0, line.length);
            assertThat(flaw.isEmpty())
                    .as("seed %d, line %s, flaw %s", seed, HexFormat.of().formatHex(line), flaw)
                    .isEqualTo(expected);
            if (expected) {
                boolean repeats = repeatsKeyForJackson(line);
                assertThat(check.repeatsKey())
                        .as("repeats a key: seed %d, line %s", seed, text)
                        .isEqualTo(repeats);
                repeating += repeats ? 1 : 0;
            }
            valid += expected ? 1 : 0;
            invalid += expected ? 0 : 1;
        }
        assertThat(valid).isGreaterThan(20_000);
        assertThat(invalid).isGreaterThan(10_000);
        assertThat(repeating).isGreaterThan(1000);
    }

    private static boolean repeatsKeyForJackson(byte[] line) {
        try {
            STRICT.readTree(line);
            return false;
        } catch (java.io.IOException e) {
            assertThat(e).hasMessageContaining("Duplicate field");
            return true;
        }
    }

    private static boolean isObjectForJackson(byte[] line) {
        try {
            String text = StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(line))
                    .toString();
            // from characters it takes the low byte of any as a hexadecimal digit, and U+2039 for a 9
            return JACKSON.readTree(text).isObject() && JACKSON.readTree(line).isObject();
        } catch (java.io.IOException e) {
            return false;
        }
    }

    private Optional<Flaw> flaw(String json) {
        byte[] line = bytes(json);
        return check.check(line, 0, line.length);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
