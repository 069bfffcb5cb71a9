package dev.caravan.intake;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import dev.caravan.finalize.Verifier;
import dev.caravan.jsonl.BadJsonlException;
import dev.caravan.jsonl.Sha256;
import dev.caravan.packing.Packed;
import dev.caravan.shard.BadRecords;
import dev.caravan.shard.Manifest;
import dev.caravan.shard.OnBadRecord;
import dev.caravan.shard.Poison;
import dev.caravan.shard.Policy;
import dev.caravan.store.JobFiles;
import dev.caravan.store.Json;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Lines that are no records are set aside if the job says so. */
class QuarantineTest {
    @TempDir
    Path folder;

    private Scene scene;

    @BeforeEach
    void setUp() throws IOException {
        scene = new Scene(folder.toRealPath());
        scene.shards = 2;
        quarantine(null, null);
    }

    private void quarantine(@Nullable Long most, @Nullable Double percent) {
        scene.policy = new Policy(
                3,
                10,
                1,
                3,
                Duration.ZERO,
                Duration.ZERO,
                new BadRecords(OnBadRecord.QUARANTINE, most, percent),
                Poison.DEFAULT,
                null);
    }

    @Test
    void bad_lines_are_set_aside_with_place_reason_hash_and_bytes_and_the_rest_goes_on() throws IOException {
        byte[] latin1 = "\uFEFF".getBytes(StandardCharsets.UTF_8);
        byte[] mixed = Packed.join(
                latin1, "{\"i\":0}\r\n{\"t\":\"\u00ff\"}\r\n\n{\"i\":2}\n[]\n".getBytes(StandardCharsets.ISO_8859_1));
        Path a = scene.write("a.jsonl", mixed);
        Path b = scene.write("b.jsonl", "\0\0\0{\"i\":4}\n{\"i\":5}\n{\"i\":");

        Manifest manifest = scene.prepare().manifest();

        assertThat(scene.shardTexts(manifest)).containsExactly("{\"i\":0}\n", "{\"i\":2}\n{\"i\":5}\n");
        assertThat(manifest.inputFiles()).extracting(Manifest.InputFile::rows).containsExactly(2L, 1L);
        assertThat(manifest.quarantined()).isEqualTo(4);
        List<byte[]> raw =
                List.of(Arrays.copyOfRange(mixed, 12, 21), bytes("[]"), bytes("\0\0\0{\"i\":4}"), bytes("{\"i\":"));
        assertThat(Files.readAllBytes(scene.job.quarantinedLines()))
                .isEqualTo(Packed.join(
                        raw.get(0),
                        bytes("\n"),
                        raw.get(1),
                        bytes("\n"),
                        raw.get(2),
                        bytes("\n"),
                        raw.get(3),
                        bytes("\n")));
        List<JsonNode> entries = entries();
        assertThat(entries)
                .extracting(entry -> entry.at("/file").asText() + " " + entry.at("/line") + " " + entry.at("/offset")
                        + " " + entry.at("/length") + " " + entry.at("/record"))
                .containsExactly(a + " 2 12 9 1", a + " 5 32 2 3", b + " 1 0 10 4", b + " 3 19 5 6");
        assertThat(entries)
                .extracting(entry -> entry.at("/reason").asText())
                .satisfiesExactly(
                        reason -> assertThat(reason).isEqualTo("not UTF-8 (byte 0xff) (column 7)"),
                        reason -> assertThat(reason).startsWith("not an object but an array"),
                        reason -> assertThat(reason).startsWith("not an object but NUL bytes"),
                        reason -> assertThat(reason).contains("ends with 1 level(s)", "still being written?"));
        assertThat(entries)
                .extracting(entry -> entry.at("/sha256").asText())
                .isEqualTo(raw.stream().map(Sha256::hex).toList());
        assertThat(Verifier.verify(new JobFiles(scene.job), Verifier.Options.ALL)
                        .steps())
                .filteredOn(step -> step.name().equals("quarantine"))
                .singleElement()
                .satisfies(step -> {
                    assertThat(step.ok()).isTrue();
                    assertThat(step.summary()).isEqualTo("4 bad records set aside");
                });
        assertThat(scene.prepare()).isInstanceOf(Prepared.Unchanged.class);
    }

    @Test
    void verify_finds_a_quarantine_that_was_changed() throws IOException {
        scene.write("a.jsonl", "{}\n{}\nbad\n");
        scene.prepare();
        Files.writeString(scene.job.quarantinedLines(), "bed\n");
        Files.delete(scene.job.quarantinedRecords());

        assertThat(Verifier.verify(new JobFiles(scene.job), Verifier.Options.ALL)
                        .steps()
                        .get(2)
                        .findings())
                .extracting(Object::toString)
                .satisfiesExactly(
                        gone -> assertThat(gone).contains("records.jsonl: expected a file, found none"),
                        changed -> assertThat(changed).contains("lines.txt: expected file of 1 rows, 4 bytes, sha256"));
    }

    @Test
    void offsets_of_packed_input_are_those_of_the_text() throws IOException {
        Path file = scene.write("a.jsonl.gz", Packed.join(Packed.gzip("{\"i\":0}\n{\"i"), Packed.gzip("\":1}\nbad\n")));

        assertThat(scene.prepare().manifest().quarantined()).isEqualTo(1);

        assertThat(entries()).singleElement().satisfies(entry -> {
            assertThat(entry.at("/file").asText()).isEqualTo(file.toString());
            assertThat(entry.at("/offset").asLong()).isEqualTo(16);
            assertThat(entry.at("/line").asLong()).isEqualTo(3);
        });
    }

    @Test
    void a_record_that_the_recipe_cannot_use_is_set_aside_and_row_numbers_leave_room_for_it() throws IOException {
        scene.recipe("process: []\n", Map.of("image", "images"), List.of("row"));
        scene.write("a.jsonl", "{\"images\":[]}\n{\"images\":7}\n{\"images\":null}\n");

        Manifest manifest = scene.prepare().manifest();

        assertThat(scene.shardTexts(manifest))
                .containsExactly("{\"images\":[],\"row\":0}\n", "{\"images\":null,\"row\":2}\n");
        assertThat(entries())
                .singleElement()
                .satisfies(entry -> assertThat(entry.at("/reason").asText())
                        .startsWith("media key 'images' must hold a list of strings"));
    }

    @Test
    void input_without_a_bad_line_has_no_quarantine() throws IOException {
        scene.write("a.jsonl", "{}\n{}\n");

        assertThat(scene.prepare().manifest().quarantine()).isNull();
        assertThat(scene.job.quarantine()).doesNotExist();
    }

    @Test
    void more_than_max_bad_records_are_refused_before_anything_is_written() throws IOException {
        Path file = scene.write("a.jsonl", "{}\n" + "{}\nbad\n".repeat(4));
        quarantine(4L, null);
        scene.prepare();
        scene = new Scene(scene.root.resolve("again"));
        Path again = Files.copy(file, scene.input.resolve("a.jsonl"));
        quarantine(3L, null);

        refuses("found more than 3, but policy.max_bad_records is 3; the first are:\n  " + again
                + ": line 3, byte 6 (column 1): broken JSON");
    }

    @Test
    void more_than_max_bad_percent_of_the_lines_are_refused() throws IOException {
        scene.write("a.jsonl", "{}\n".repeat(98) + "\n\n");
        scene.write("b.jsonl", "bad\nbad\n");
        quarantine(null, 1.99);
        refuses("found 2 of 100 (2.00 %), but policy.max_bad_percent is 1.99; the first are:\n  ");

        quarantine(null, 2.0);
        assertThat(scene.prepare().manifest().quarantined()).isEqualTo(2);
    }

    @Test
    void input_of_bad_lines_alone_is_refused() throws IOException {
        scene.write("a.jsonl", "bad\nbad\n");

        refuses("hold none, but 2 line(s) that are not records");
    }

    @Test
    void damage_of_a_packed_file_is_no_bad_line() throws IOException {
        byte[] packed = Packed.gzip("{}\n".repeat(1000));
        scene.write("a.jsonl.gz", Arrays.copyOf(packed, packed.length - 9));

        assertThatThrownBy(scene::prepare).hasMessageContaining("a.jsonl.gz cannot be unpacked: ");
        assertThat(scene.besideJob()).isEmpty();
    }

    @Test
    void half_a_record_of_a_file_that_grows_is_not_set_aside() throws IOException {
        Path file = scene.write("a.jsonl", "{}\n".repeat(2_000_000) + "{\"half\":");
        boolean[] done = {false};
        scene.progress = (read, total) -> {
            if (read > 4_000_000 && !done[0]) {
                done[0] = true;
                try {
                    Files.writeString(file, "1}\n", StandardOpenOption.APPEND);
                } catch (IOException e) {
                    throw new AssertionError(e);
                }
            }
        };

        assertThatThrownBy(scene::prepare)
                .isInstanceOf(InputChangedException.class)
                .hasMessageStartingWith("Input changed while it was read: " + file);
        assertThat(scene.besideJob()).isEmpty();
    }

    @Test
    void without_the_policy_the_first_bad_line_ends_the_job() throws IOException {
        scene.policy = Policy.DEFAULT;
        scene.write("a.jsonl", "{}\nbad\n");

        assertThatThrownBy(scene::prepare).isInstanceOf(BadJsonlException.class);
        assertThat(scene.besideJob()).isEmpty();
    }

    private void refuses(String message) {
        assertThatThrownBy(scene::prepare).isInstanceOf(IntakeException.class).hasMessageContaining(message);
        assertThat(scene.besideJob()).isEmpty();
    }

    private List<JsonNode> entries() throws IOException {
        return Files.readAllLines(scene.job.quarantinedRecords()).stream()
                .map(line -> {
                    try {
                        return Json.tree(bytes(line));
                    } catch (IOException e) {
                        throw new AssertionError(e);
                    }
                })
                .toList();
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
