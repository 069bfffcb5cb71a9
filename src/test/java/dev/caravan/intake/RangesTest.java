package dev.caravan.intake;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.caravan.jsonl.BadJsonlException;
import dev.caravan.jsonl.Blocks;
import dev.caravan.shard.Manifest;
import dev.caravan.shard.ShardForm;
import dev.caravan.store.Layout;
import dev.caravan.store.ShardBytes;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Shards that are ranges of the input. */
class RangesTest {
    @TempDir
    Path folder;

    private Scene scene(String name) throws IOException {
        Scene scene = new Scene(folder.toRealPath().resolve(name));
        scene.form = null;
        return scene;
    }

    private static byte[] bytes(Layout.Job job, Manifest.Shard shard) {
        try (InputStream in = ShardBytes.open(job, shard)) {
            return in.readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** As input is prepared whose records must change. */
    private static StageWriter.Written inTwoPasses(PrepareRequest asked, Path folder) throws IOException {
        InputFiles input = InputFiles.find(asked.datasetPath());
        long size = 0;
        for (Path file : input.files()) {
            size += Files.size(file);
        }
        PrepareRequest request = asked.ofInput(size);
        ReadWatch watch = new ReadWatch(() -> true, Progress.NONE);
        Layout.Job stage = new Layout.Job(folder);
        Files.createDirectories(stage.shards());
        return new StageWriter(request, Scan.of(request, input, watch), stage, watch).write(input);
    }

    @Test
    void ranges_are_the_shards_that_would_be_written_for_every_input_and_number_of_shards() throws IOException {
        long seed = Long.getLong("caravan.seed", System.nanoTime());
        Random random = new Random(seed);
        for (int round = 0; round < 25; round++) {
            Scene ranges = scene("r" + round);
            int records = write(ranges, random);
            ranges.shards = random.nextInt(5) == 0 ? null : Integer.valueOf(1 + random.nextInt(records));
            Scene files = new Scene(ranges.root);
            files.shards = ranges.shards;
            Manifest ranged = ranges.prepare().manifest();
            Layout.Job other = new Layout.Job(ranges.root.resolve("jobs/files"));
            PrepareRequest request = new PrepareRequest(
                    other,
                    "job-1",
                    files.dataset,
                    files.shards,
                    files.auto(),
                    ShardForm.FILES,
                    files.execution,
                    files.policy,
                    files.output,
                    files.outputForm,
                    null);
            Manifest written = new Prepare(java.time.Clock.systemUTC(), () -> true, Progress.NONE)
                    .run(request)
                    .manifest();

            String what = "seed %d round %d".formatted(seed, round);
            StageWriter.Written inTwoPasses = inTwoPasses(request, ranges.root.resolve("jobs/copied"));
            assertThat(written.shards()).as(what).isEqualTo(inTwoPasses.shards());
            assertThat(written.normalizedSha256()).as(what).isEqualTo(inTwoPasses.sha256());
            assertThat(ranged.shardForm()).as(what).isEqualTo(ShardForm.RANGES);
            assertThat(ranges.job.shards()).doesNotExist();
            assertThat(ranged.inputFiles()).as(what).isEqualTo(written.inputFiles());
            assertThat(ranged.totalRows()).isEqualTo(records);
            assertThat(ranged.totalSizeBytes()).isEqualTo(written.totalSizeBytes());
            assertThat(ranged.warnings()).isEqualTo(written.warnings());
            assertThat(ranged.shards()).as(what).hasSameSizeAs(written.shards());
            for (int k = 0; k < ranged.shards().size(); k++) {
                Manifest.Shard range = ranged.shards().get(k);
                Manifest.Shard file = written.shards().get(k);
                assertThat(bytes(ranges.job, range)).as(what).isEqualTo(bytes(other, file));
                assertThat(new Manifest.Shard(file.id(), file.path(), range.rows(), range.bytes(), range.sha256()))
                        .as(what)
                        .isEqualTo(file);
            }
        }
    }

    /** Lines shorter and longer than a block, files with and without byte order mark and last line feed, and empty ones. */
    private static int write(Scene scene, Random random) throws IOException {
        int records = 1;
        scene.write("zz.jsonl", "{}");
        for (int file = random.nextInt(4); file > 0; file--) {
            StringBuilder text = new StringBuilder(random.nextInt(3) == 0 ? "\uFEFF" : "");
            for (int n = random.nextInt(30); n > 0; n--) {
                int length = random.nextInt(12) == 0 ? random.nextInt(3 * Blocks.SIZE) : random.nextInt(100);
                text.append("{\"a\":\"")
                        .append((random.nextBoolean() ? "中" : "y").repeat(length))
                        .append("\"} \n");
                records++;
            }
            if (text.length() > 1 && random.nextBoolean()) {
                text.setLength(text.length() - 1);
            }
            scene.write("f" + file + ".jsonl", text.toString());
        }
        return records;
    }

    @ParameterizedTest
    @CsvSource({
        "'{}\r\n{}\n', CR before LF at byte 0",
        "'{}\n\n{}\n', a blank line at byte 3",
        "'{}\n{\"images\":[\"a.png\"]}\n', a record that must change",
    })
    void input_that_must_change_is_written_anew_and_cannot_be_asked_for_as_ranges(String text, String why)
            throws IOException {
        Scene scene = scene("s");
        scene.write("a.jsonl", text);
        scene.recipe("r", Map.of("image", "images"), List.of());
        scene.form = ShardForm.RANGES;

        assertThatThrownBy(scene::prepare)
                .isInstanceOf(IntakeException.class)
                .hasMessageContaining("a.jsonl holds " + why)
                .hasMessageContaining("shards: files");
        assertThat(scene.besideJob()).isEmpty();

        scene.form = null;
        Manifest manifest = scene.prepare().manifest();
        assertThat(manifest.shardForm()).isEqualTo(ShardForm.FILES);
        assertThat(scene.shardTexts(manifest)).hasSize(2);
    }

    @Test
    void a_bad_line_is_told_as_it_is_for_files() throws IOException {
        Scene scene = scene("s");
        scene.write("a.jsonl", "{}\n".repeat(5) + "{\"a\":}\n");
        Throwable ranges = catchThrowable(scene::prepare);
        scene.form = ShardForm.FILES;

        assertThat(ranges).isInstanceOf(BadJsonlException.class).hasMessageContaining("line 6, byte 20");
        assertThat(ranges).hasMessage(catchThrowable(scene::prepare).getMessage());
    }

    @Test
    void a_recipe_whose_media_paths_are_absolute_needs_no_copy() throws IOException {
        Scene scene = scene("s");
        scene.write("a.jsonl", "{\"images\":[\"/m/a.png\"]}\n".repeat(8));
        scene.recipe("r", Map.of("image", "images"), List.of());

        assertThat(scene.prepare().manifest().shardForm()).isEqualTo(ShardForm.RANGES);
    }

    @Test
    void more_shards_than_records_are_refused() throws IOException {
        Scene scene = scene("s");
        scene.write("a.jsonl", "{}\n{}\n");
        scene.shards = 3;

        assertThatThrownBy(scene::prepare).isInstanceOf(IntakeException.class).hasMessageContaining("num_shards is 3");
    }

    @Test
    void the_same_request_again_changes_nothing_and_the_other_form_is_refused() throws IOException {
        Scene scene = scene("s");
        scene.write("a.jsonl", "{}\n{}\n");
        byte[] manifest = manifestAfter(scene);

        assertThat(manifestAfter(scene)).isEqualTo(manifest);
        scene.form = ShardForm.FILES;
        assertThatThrownBy(scene::prepare).hasMessageContaining("shards was ranges, asked for is files");
    }

    private static byte[] manifestAfter(Scene scene) throws IOException {
        scene.prepare();
        return Files.readAllBytes(scene.job.manifest());
    }

    @Test
    void a_file_that_grows_while_it_is_read_ends_prepare() throws IOException {
        Scene scene = scene("s");
        Path file = scene.write("a.jsonl", "{\"a\":\"b\"}\n".repeat(1_200_000));
        scene.progress = (done, total) -> {
            if (done > 0 && done < total) {
                append(file);
            }
        };

        assertThatThrownBy(scene::prepare).isInstanceOf(InputChangedException.class);
        assertThat(scene.besideJob()).isEmpty();
    }

    private static void append(Path file) {
        try {
            Files.write(file, "{}\n".getBytes(StandardCharsets.UTF_8), java.nio.file.StandardOpenOption.APPEND);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
