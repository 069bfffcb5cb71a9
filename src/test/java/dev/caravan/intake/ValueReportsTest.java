package dev.caravan.intake;

import java.io.IOException;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Kind S of the public reports: values. */
class ValueReportsTest extends PublicReports {
    static Stream<Arguments> every_record_comes_through_as_it_was_in_one_shard_and_in_two() {
        return Stream.of(
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
    @MethodSource
    void every_record_comes_through_as_it_was_in_one_shard_and_in_two(
            String id, Map<String, byte[]> files, String expected) throws IOException {
        comesThrough(files, expected);
    }
}
