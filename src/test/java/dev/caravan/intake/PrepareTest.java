package dev.caravan.intake;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.caravan.jsonl.BadJsonlException;
import dev.caravan.packing.Packed;
import dev.caravan.shard.Manifest;
import dev.caravan.shard.OutputForm;
import dev.caravan.shard.ShardForm;
import dev.caravan.shard.ShardId;
import dev.caravan.store.JobFiles;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Clock;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class PrepareTest {
    @TempDir
    Path folder;

    private Scene scene;

    @BeforeEach
    void setUp() throws IOException {
        scene = new Scene(folder.toRealPath());
    }

    @Test
    void makes_a_complete_job_directory_and_a_manifest_that_describes_it() throws IOException {
        Path b = scene.write("b.jsonl", "{\"i\":2}\r\n{\"i\":3}\n\n\n");
        Path a = scene.write("a/x.JSONL", "\uFEFF{\"i\":0}\n{\"i\":1}");
        Path empty = scene.write("c.ndjson", "");
        scene.write("._b.jsonl", "junk");
        scene.write("notes.txt", "junk");
        scene.shards = 2;
        scene.recipe("process: []\n", Map.of(), List.of());

        Prepared prepared = scene.prepare();

        Manifest manifest = prepared.manifest();
        assertThat(prepared).isInstanceOf(Prepared.Made.class);
        assertThat(new JobFiles(scene.job).manifest()).isEqualTo(manifest);
        assertThat(scene.shardTexts(manifest)).containsExactly("{\"i\":0}\n{\"i\":1}\n", "{\"i\":2}\n{\"i\":3}\n");
        assertThat(manifest.shards())
                .containsExactly(
                        new Manifest.Shard(
                                new ShardId(0, 2),
                                "shards/part-00000-of-00002.jsonl",
                                2,
                                16,
                                sha256("{\"i\":0}\n{\"i\":1}\n")),
                        new Manifest.Shard(
                                new ShardId(1, 2),
                                "shards/part-00001-of-00002.jsonl",
                                2,
                                16,
                                sha256("{\"i\":2}\n{\"i\":3}\n")));
        assertThat(manifest.inputFiles()).containsExactly(inputFile(a, 2), inputFile(b, 2), inputFile(empty, 0));
        assertThat(manifest.normalizedSha256()).isEqualTo(sha256("{\"i\":0}\n{\"i\":1}\n{\"i\":2}\n{\"i\":3}\n"));
        assertThat(List.of(manifest.totalRows(), manifest.totalSizeBytes())).containsExactly(4L, 32L);
        assertThat(manifest.numShards()).isEqualTo(2);
        assertThat(manifest.schemaVersion()).isEqualTo(2);
        assertThat(manifest.jobId()).isEqualTo("job-1");
        assertThat(manifest.createdAt()).isEqualTo("2026-03-04T05:06:07Z");
        assertThat(manifest.datasetPath()).isEqualTo(scene.input.toString());
        assertThat(manifest.mediaRoot()).isEqualTo(scene.input.toString());
        assertThat(manifest.output()).isEqualTo(scene.output.toString());
        assertThat(manifest.codeVersion()).isEqualTo("1.6.1");
        assertThat(manifest.recipe())
                .isEqualTo(new Manifest.Recipe(
                        scene.root.resolve("r.yaml").toString(), "recipe.yaml", sha256("process: []\n")));
        assertThat(Files.readString(scene.job.recipe())).isEqualTo("process: []\n");
        assertThat(manifest.warnings())
                .containsExactly(
                        "a warning of the recipe",
                        "skipped in the input folder (1 hidden): ._b.jsonl",
                        "skipped in the input folder (1 not .jsonl, .ndjson, or that and .gz or .zst): notes.txt",
                        "input files without records (1): " + empty,
                        "blank lines, ignored, in 1 input file(s): " + b + " (2)");
        assertThat(treeOf(scene.job.path()))
                .containsExactly(
                        "attempts/",
                        "cache/",
                        "manifest.json",
                        "recipe.yaml",
                        "shards/",
                        "shards/part-00000-of-00002.jsonl",
                        "shards/part-00001-of-00002.jsonl",
                        "state/",
                        "state/done/",
                        "state/failed/",
                        "state/history/",
                        "state/locks/",
                        "state/speculative/");
        assertThat(scene.besideJob()).containsExactly("j1");
    }

    @Test
    void an_engine_without_a_recipe_gets_no_snapshot_and_unchanged_records() throws IOException {
        scene.write("a.jsonl", "{\"images\":[\"x.png\"], \"id\" : 18446744073709551616,\"id\":1.0}\n");

        Manifest manifest = scene.prepare().manifest();

        assertThat(scene.shardTexts(manifest))
                .containsExactly("{\"images\":[\"x.png\"], \"id\" : 18446744073709551616,\"id\":1.0}\n");
        assertThat(manifest.recipe()).isNull();
        assertThat(manifest.codeVersion()).isNull();
        assertThat(scene.job.recipe()).doesNotExist();
    }

    @Test
    void index_keys_count_over_all_files_and_media_is_relative_to_the_dataset() throws IOException {
        scene.write("a.jsonl", "{\"a\":0}\n{\"idx\":77}\n");
        scene.write("sub/b.jsonl", "{\"images\":[\"p/x.png\",\"/abs.png\",\"s3://b/k\"]}\n{\"images\":null}\n");
        scene.recipe("r", Map.of("image", "images"), List.of("idx"));
        scene.shards = 1;

        Manifest manifest = scene.prepare().manifest();

        assertThat(scene.shardTexts(manifest))
                .containsExactly("{\"a\":0,\"idx\":0}\n{\"idx\":77}\n{\"images\":[\"" + scene.input
                        + "/p/x.png\",\"/abs.png\",\"s3://b/k\"],\"idx\":2}\n{\"images\":null,\"idx\":3}\n");
        assertThat(manifest.mediaKeys()).isEqualTo(Map.of("image", "images"));
        assertThat(manifest.indexKeys()).containsExactly("idx");
    }

    @Test
    void media_of_a_single_file_is_relative_to_its_folder() throws IOException {
        scene.dataset = scene.write("sub/b.jsonl", "{\"images\":[\"x.png\"]}\n");
        scene.recipe("r", Map.of("image", "images"), List.of());

        Manifest manifest = scene.prepare().manifest();

        assertThat(manifest.mediaRoot()).isEqualTo(scene.input.resolve("sub").toString());
        assertThat(scene.shardTexts(manifest))
                .containsExactly("{\"images\":[\"" + scene.input.resolve("sub/x.png") + "\"]}\n");
    }

    @Test
    void a_media_key_that_is_no_list_of_strings_is_an_error_at_its_place() throws IOException {
        Path file = scene.write("a.jsonl", "{}\n{\"images\":[\"x\",{}]}\n");
        scene.recipe("r", Map.of("image", "images"), List.of());

        assertThatThrownBy(scene::prepare)
                .isInstanceOf(BadJsonlException.class)
                .hasMessageContaining(file + " holds records that cannot be used")
                .hasMessageContaining("line 2, byte 18 (column 16): media key 'images' must hold a list of strings, or"
                        + " null; found: {\"images\":[\"x\",{}]}");
        assertThat(scene.besideJob()).isEmpty();
    }

    @Test
    void a_bad_line_ends_prepare_before_anything_is_written() throws IOException {
        scene.write("a.jsonl", "{}\n");
        Path bad = scene.write("b.jsonl", "{}\n{\"a\":NaN}\n");

        assertThatThrownBy(scene::prepare)
                .isInstanceOf(BadJsonlException.class)
                .hasMessageContaining(bad.toString())
                .hasMessageContaining("line 2, byte 8 (column 6): broken JSON: NaN and Infinity are not JSON");
        assertThat(scene.besideJob()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({"5, num_shards is 5 but the input holds only 4 record(s)", "0, num_shards must be 1 or more"})
    void a_number_of_shards_that_cannot_be_is_refused_before_anything_is_written(int shards, String message)
            throws IOException {
        scene.write("a.jsonl", "{}\n{}\n{}\n{}\n");
        scene.shards = shards;

        assertThatThrownBy(scene::prepare).isInstanceOf(IntakeException.class).hasMessageContaining(message);
        assertThat(scene.besideJob()).isEmpty();
    }

    @Test
    void input_without_any_record_is_refused() throws IOException {
        scene.write("a.jsonl", "");
        scene.write("b.jsonl", "\n\n");

        assertThatThrownBy(scene::prepare)
                .isInstanceOf(IntakeException.class)
                .hasMessageContaining("no records in " + scene.input + ": its 2 input file(s) hold none");
    }

    @Test
    void auto_makes_four_shards_of_small_input_and_fewer_of_fewer_records() throws IOException {
        scene.write("a.jsonl", "{}\n{}\n{}\n{}\n{}\n{}\n");
        assertThat(scene.prepare().manifest().numShards()).isEqualTo(4);

        Scene other = new Scene(scene.root.resolve("other"));
        other.write("a.jsonl", "{}\n{}\n");
        assertThat(other.prepare().manifest().numShards()).isEqualTo(2);
    }

    @ParameterizedTest
    @EnumSource(ShardForm.class)
    void auto_cuts_by_bytes_and_for_the_slots_that_are_known(ShardForm form) throws IOException {
        String megabyte = ("{\"t\":\"" + "x".repeat(9_991) + "\"}\n").repeat(100);
        scene.form = form;
        scene.write("a.jsonl", megabyte.repeat(3));
        scene.slots = 2;
        assertThat(scene.prepare().manifest().numShards()).as("eight a slot").isEqualTo(16);

        Scene other = new Scene(scene.root.resolve("other"));
        other.form = form;
        other.write("a.jsonl", megabyte.repeat(12));
        assertThat(other.prepare().manifest().numShards()).as("a minute each").isEqualTo(12);
    }

    @Test
    void one_huge_record_leaves_no_shard_empty() throws IOException {
        scene.write("a.jsonl", "{\"t\":\"" + "x".repeat(3_000_000) + "\"}\n{}\n{}\n");
        scene.shards = 3;

        assertThat(scene.prepare().manifest().shards())
                .extracting(Manifest.Shard::rows)
                .containsExactly(1L, 1L, 1L);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void progress_ends_at_the_size_of_the_input_or_at_twice_that_where_records_must_change(boolean packed)
            throws IOException {
        long all = 800_000;
        scene.write("a.jsonl", "{\"a\":1}\n".repeat(100_000));
        if (packed) {
            all = 2 * (all + Files.size(scene.writePacked("b.jsonl.gz", "{}\n")));
        }
        List<String> heard = new ArrayList<>();
        scene.progress = (done, total) -> heard.add(done + "/" + total);

        scene.prepare();

        assertThat(heard).first().isEqualTo("0/" + all);
        assertThat(heard).last().isEqualTo(all + "/" + all);
    }

    @Test
    void stops_and_leaves_nothing_when_the_role_is_lost_in_either_pass() throws IOException {
        scene.write("a.jsonl", ("{\"a\":\"" + "x".repeat(1000) + "\"}\n").repeat(20_000));
        scene.writePacked("b.jsonl.gz", "{}\n");
        for (int allowed : new int[] {0, 3, 8}) {
            int[] asked = {0};
            Prepare prepare = new Prepare(Clock.systemUTC(), () -> asked[0]++ < allowed, Progress.NONE);

            assertThatThrownBy(() -> prepare.run(scene.request()))
                    .isInstanceOf(PrepareAbortedException.class)
                    .hasMessageContaining("no longer holds the prepare role");
            assertThat(scene.besideJob()).isEmpty();
        }
    }

    @ParameterizedTest
    @CsvSource({
        "job/j, out.jsonl, FILE, job directory",
        "../j, merged.jsonl, FILE, output",
        "../j, merged, PARTS, output"
    })
    void a_place_that_would_become_input_is_refused(String job, String output, OutputForm form, String what)
            throws IOException {
        Path file = scene.write("a.jsonl", "{}\n");
        PrepareRequest request = new PrepareRequest(
                new dev.caravan.store.Layout.Job(scene.input.resolve(job)),
                "j",
                scene.dataset,
                null,
                scene.auto(),
                null,
                Scene.COMMAND,
                scene.policy,
                scene.input.resolve(output),
                form,
                null);

        assertThatThrownBy(() -> new Prepare(Clock.systemUTC(), () -> true, Progress.NONE).run(request))
                .isInstanceOf(IntakeException.class)
                .hasMessageStartingWith(what)
                .hasMessageContaining("would be read as input");
        assertThat(treeOf(scene.input)).containsExactly(file.getFileName().toString());
    }

    @Test
    void a_small_packed_file_with_much_text_is_left_soon_after_the_role_is_lost() throws IOException {
        byte[] frame = Packed.zstd("{\"i\":1}\n".repeat(1 << 20));
        byte[][] frames = new byte[20][];
        Arrays.fill(frames, frame);
        byte[] packed = Packed.join(Packed.join(frames), Packed.zstd("a bad line at the end\n"));
        scene.write("a.jsonl.zst", packed);
        int[] asked = {0};

        assertThatThrownBy(
                        () -> new Prepare(Clock.systemUTC(), () -> asked[0]++ < 2, Progress.NONE).run(scene.request()))
                .as("asked before the bad line was met")
                .isInstanceOf(PrepareAbortedException.class);
    }

    @Test
    void an_output_with_the_name_of_a_packed_file_is_refused() throws IOException {
        scene.write("a.jsonl", "{}\n");
        scene.output = scene.root.resolve("out.jsonl.ZST");

        assertThatThrownBy(scene::prepare)
                .isInstanceOf(IntakeException.class)
                .hasMessage("the output " + scene.output + " has the name of a compressed file, but the merged file is"
                        + " plain text: name it without .zst");
    }

    private static Manifest.InputFile inputFile(Path file, long rows) throws IOException {
        long mtimeNs = Files.getLastModifiedTime(file).to(java.util.concurrent.TimeUnit.NANOSECONDS);
        return new Manifest.InputFile(
                file.toString(), Files.size(file), mtimeNs, sha256(Files.readAllBytes(file)), rows);
    }

    private static List<String> treeOf(Path folder) throws IOException {
        try (Stream<Path> paths = Files.walk(folder)) {
            return paths.filter(p -> !p.equals(folder))
                    .map(p -> folder.relativize(p) + (Files.isDirectory(p) ? "/" : ""))
                    .sorted()
                    .toList();
        }
    }

    static String sha256(String text) {
        return sha256(text.getBytes(StandardCharsets.UTF_8));
    }

    static String sha256(byte[] bytes) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError(e);
        }
    }
}
