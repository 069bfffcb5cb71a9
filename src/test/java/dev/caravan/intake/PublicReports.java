package dev.caravan.intake;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.caravan.CaravanException;
import dev.caravan.shard.BadRecords;
import dev.caravan.shard.Manifest;
import dev.caravan.shard.OnBadRecord;
import dev.caravan.shard.Poison;
import dev.caravan.shard.Policy;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.provider.Arguments;

/**
 * Input that broke other programs, by the numbers of a collection of public bug reports, each with the outcome that its
 * reporter would call right. What the tests of all kinds have in common.
 */
@Timeout(60)
abstract class PublicReports {
    @TempDir
    Path folder;

    Scene scene;

    @BeforeEach
    void setUp() throws IOException {
        scene = new Scene(folder.toRealPath());
    }

    static Arguments report(String id, String expected, Object... namesAndContents) {
        return Arguments.of(id, files(namesAndContents), expected);
    }

    static Map<String, byte[]> files(Object... namesAndContents) {
        Map<String, byte[]> files = new LinkedHashMap<>();
        for (int i = 0; i < namesAndContents.length; i += 2) {
            Object content = namesAndContents[i + 1];
            files.put((String) namesAndContents[i], content instanceof byte[] raw ? raw : bytes((String) content));
        }
        return files;
    }

    static Arguments unchanged(String id, String text) {
        return report(id, text, "x.jsonl", text);
    }

    static String numbered(int from, int to) {
        return IntStream.range(from, to).mapToObj("{\"i\":%d}\n"::formatted).collect(Collectors.joining());
    }

    final void comesThrough(Map<String, byte[]> files, String expected) throws IOException {
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

    final void isRefused(Map<String, byte[]> files, String message) throws IOException {
        write(scene, files);

        assertThatThrownBy(scene::prepare)
                .isInstanceOf(CaravanException.class)
                .hasMessageContaining(message)
                .message()
                .hasSizeLessThan(2500);
        assertThat(scene.besideJob()).isEmpty();
    }

    final void quarantine() {
        scene.policy = new Policy(
                3,
                10,
                1,
                3,
                Duration.ZERO,
                Duration.ZERO,
                new BadRecords(OnBadRecord.QUARANTINE, null, null),
                Poison.DEFAULT,
                null);
    }

    static void write(Scene scene, Map<String, byte[]> files) throws IOException {
        for (Map.Entry<String, byte[]> file : files.entrySet()) {
            scene.write(file.getKey(), file.getValue());
        }
    }

    static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
