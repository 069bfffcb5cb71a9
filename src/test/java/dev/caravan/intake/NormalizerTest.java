package dev.caravan.intake;

import static org.assertj.core.api.Assertions.assertThat;

import dev.caravan.jsonl.Flaw;
import dev.caravan.jsonl.Line;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class NormalizerTest {
    private final Normalizer normalizer =
            new Normalizer(List.of("images", "videos", "images"), List.of("i", "j"), Path.of("/data/set"), null);

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
            {"images":["a.png"],"i":0,"j":0}                   | {"images":["/data/set/a.png"],"i":0,"j":0}
            {"i":0,"images":[ "a.png" , "../b" ],"j":1}        | {"i":0,"images":[ "/data/set/a.png" , "/data/set/../b" ],"j":1}
            {"videos":["v"],"images":["x"],"i":0,"j":0}        | {"videos":["/data/set/v"],"images":["/data/set/x"],"i":0,"j":0}
            {"images":["a"],"images":["b"],"i":0,"j":0}        | {"images":["a"],"images":["/data/set/b"],"i":0,"j":0}
            {"images":["\\u0061\\/b","\\ud835"],"i":0,"j":0}   | {"images":["/data/set/\\u0061\\/b","/data/set/\\ud835"],"i":0,"j":0}
            {"im\\u0061ges":["a"],"i":0,"j":0}                 | {"im\\u0061ges":["/data/set/a"],"i":0,"j":0}
            {"images":["/a","b"],"i":0,"j":0}                  | {"images":["/a","/data/set/b"],"i":0,"j":0}
            {"a": 1.0 }                                        | {"a": 1.0,"i":41,"j":41 }
            {}                                                 | {"i":41,"j":41}
            {"j":"x"}                                          | {"j":"x","i":41}
            {"images":["a"]}                                   | {"images":["/data/set/a"],"i":41,"j":41}
            """)
    void changes_relative_media_and_absent_indexes_and_nothing_else(String record, String expected) {
        assertThat(rewrite(normalizer, record))
                .isInstanceOfSatisfying(
                        Rewrite.Changed.class,
                        changed -> assertThat(new String(changed.record(), StandardCharsets.UTF_8))
                                .isEqualTo(expected));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"i\":0,\"j\":5}",
                "{\"i\":null,\"j\":null}",
                "{\"images\":null,\"i\":0,\"j\":0}",
                "{\"images\":[],\"i\":0,\"j\":0}",
                "{\"images\":[\"\"],\"i\":0,\"j\":0}",
                "{\"images\":[\"/a\",\"\\/b\",\"\\u002fc\"],\"i\":0,\"j\":0}",
                "{\"images\":[\"http://h/a\",\"HTTPS://h/a\",\"s3://b\",\"gs://b\",\"hdfs://b\",\"oss://b\"],\"i\":0,\"j\":0}",
                "{\"meta\":{\"images\":[\"a\"]},\"audios\":[\"a\"],\"i\":0,\"j\":0}"
            })
    void a_record_that_needs_no_change_stays_as_it_is(String record) {
        assertThat(rewrite(normalizer, record)).isSameAs(Rewrite.SAME);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
            {"images":"a.png"}       | 10 | images
            {"images":["a",1]}       | 15 | images
            {"images":[null]}        | 11 | images
            {"videos":{"a":["b"]}}   | 10 | videos
            {"videos":0}             | 10 | videos
            """)
    void media_that_is_no_list_of_strings_is_refused_at_its_place(String record, int position, String key) {
        assertThat(rewrite(normalizer, record))
                .isEqualTo(new Rewrite.Refused(
                        new Flaw(position, "media key '" + key + "' must hold a list of strings, or null")));
    }

    @Test
    void the_media_root_is_escaped_as_json_text() {
        Normalizer odd = new Normalizer(List.of("images"), List.of(), Path.of("/data \"q\"\\ü"), null);

        assertThat(rewrite(odd, "{\"images\":[\"a\"]}"))
                .isInstanceOfSatisfying(
                        Rewrite.Changed.class,
                        changed -> assertThat(new String(changed.record(), StandardCharsets.UTF_8))
                                .isEqualTo("{\"images\":[\"/data \\\"q\\\"\\\\ü/a\"]}"));
    }

    @Test
    void the_root_folder_is_one_slash() {
        Normalizer top = new Normalizer(List.of("images"), List.of(), Path.of("/"), null);

        assertThat(rewrite(top, "{\"images\":[\"a\"]}"))
                .isInstanceOfSatisfying(
                        Rewrite.Changed.class,
                        changed -> assertThat(new String(changed.record(), StandardCharsets.UTF_8))
                                .isEqualTo("{\"images\":[\"/a\"]}"));
    }

    private static Rewrite rewrite(Normalizer normalizer, String record) {
        byte[] bytes = ("xx" + record + "yy").getBytes(StandardCharsets.UTF_8);
        return normalizer.rewrite(new Line(bytes, 2, bytes.length - 2, 1, 0, true), 41);
    }
}
