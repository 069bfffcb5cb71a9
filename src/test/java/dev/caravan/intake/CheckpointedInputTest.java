package dev.caravan.intake;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.caravan.jsonl.BadJsonlException;
import dev.caravan.shard.Checkpoint;
import dev.caravan.shard.Engine;
import dev.caravan.shard.Execution;
import dev.caravan.shard.Manifest;
import dev.caravan.shard.ShardForm;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Which input and which recipe may have a checkpoint. */
class CheckpointedInputTest {
    @TempDir
    Path folder;

    private Scene scene;

    @BeforeEach
    void make() throws IOException {
        scene = new Scene(folder);
        scene.ids = new UniqueIds("id", folder.resolve("scratch"));
        scene.shards = 2;
    }

    private void checkpoint(@Nullable Path path, List<String> obstacles, Map<String, Object> identity) {
        scene.execution = new Execution(
                Engine.DATA_JUICER,
                List.of(),
                Execution.Ray.DEFAULT,
                null,
                null,
                null,
                new Checkpoint("id", path == null ? null : path.toString(), false));
        scene.recipe = new RecipeFacts(
                folder.resolve("r.yaml"),
                "process: []".getBytes(StandardCharsets.UTF_8),
                Map.of(),
                List.of(),
                List.of(),
                "1.6.1",
                new RecipeFacts.Checkpoints(obstacles, identity));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{\"x\":{\"id\":1}}          | 'id' is missing",
                "{\"id\":null}               | must hold text or a whole number, found null",
                "{\"id\":1.5}                | must hold text or a whole number, found 1.5",
                "{\"id\":1e3}                | must hold text or a whole number, found 1e3",
                "{\"id\":true}               | must hold text or a whole number, found true",
                "{\"id\":[1]}                | must hold text or a whole number, found [1]",
                "{\"id\":3,\"id\":{\"a\":1}} | must hold text or a whole number, found {\"a\":1}"
            })
    void a_record_without_an_id_is_refused_with_file_and_line(String record, String what) throws IOException {
        Path file = scene.write("b.jsonl", "{\"id\":1}\n{\"id\":2}\n" + record.strip() + "\n{\"id\":4}\n");
        scene.write("a.jsonl", "{\"id\":\"a\"}\n");
        assertThatThrownBy(scene::prepare)
                .isInstanceOf(BadJsonlException.class)
                .hasMessageContaining(file.toString())
                .hasMessageContaining("line 3")
                .hasMessageContaining(what);
        assertThat(scene.job.path()).doesNotExist();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{\"id\":17}                   | {\"x\":0, \"id\" : 17 }",
                "{\"id\":\"ab\"}               | {\"id\":\"\\u0061b\"}",
                "{\"id\":0}                    | {\"id\":-0}",
                "{\"id\":\"\"}                 | {\"id\":\"\"}",
                "{\"id\":99999999999999999999} | {\"id\":99999999999999999999}",
                "{\"id\":1,\"id\":5}           | {\"id\":5}"
            })
    void an_id_that_repeats_is_refused_with_both_places(String one, String again) throws IOException {
        Path first = scene.write("a.jsonl", "{\"id\":\"x\"}\n\n" + one.strip() + "\n");
        Path second = scene.write("b.jsonl", "{\"id\":\"y\"}\n" + again.strip() + "\n{\"id\":\"x\"}\n");
        assertThatThrownBy(scene::prepare)
                .isInstanceOf(IntakeException.class)
                .hasMessageContaining(
                        "id column 'id' must tell each record from all others, but %s line 2 has the id of %s line 3",
                        second, first);
    }

    @ParameterizedTest
    @ValueSource(strings = {"RANGES", "FILES"})
    void ids_that_only_look_alike_are_different_in_either_form_of_shards(String form) throws IOException {
        scene.form = ShardForm.valueOf(form);
        scene.write(
                "a.jsonl", "{\"id\":1}\n{\"id\":\"1\"}\n{\"id\":-1}\n{\"id\":\"-1\"}\n{\"id\":10}\n{\"id\":\"\"}\n");
        Manifest manifest = scene.prepare().manifest();
        assertThat(manifest.totalRows()).isEqualTo(6);
        assertThat(manifest.shardForm()).isEqualTo(scene.form);
    }

    @Test
    void many_ids_are_compared_on_the_disk_and_leave_nothing_there() throws IOException {
        Path scratch = Files.createDirectory(folder.resolve("many"));
        try (RecordIds ids = new RecordIds(scratch, 4)) {
            ids.begin(Path.of("/one"));
            for (int i = 0; i < 100_000; i++) {
                ids.add(Integer.toString(i).getBytes(StandardCharsets.UTF_8), i + 1L);
            }
            assertThat(ids.repeated()).isEmpty();
            assertThat(Files.walk(scratch).filter(Files::isRegularFile)).hasSizeGreaterThan(60);
            ids.begin(Path.of("/two"));
            ids.add("77777".getBytes(StandardCharsets.UTF_8), 5);
            ids.add("4".getBytes(StandardCharsets.UTF_8), 6);
            assertThat(ids.repeated())
                    .contains(new RecordIds.Repeated(
                            new RecordIds.Place(Path.of("/one"), 77778), new RecordIds.Place(Path.of("/two"), 5)));
        }
        assertThat(scratch).isEmptyDirectory();
    }

    @Test
    void a_recipe_whose_records_do_not_stand_alone_is_refused_with_the_reasons() throws IOException {
        scene.write("a.jsonl", "{\"id\":1}\n{\"id\":2}\n");
        checkpoint(null, List.of("r.yaml:3: process[0].text_chunk_mapper: makes several records of one"), Map.of());
        assertThatThrownBy(scene::prepare)
                .isInstanceOf(IntakeException.class)
                .hasMessageContaining("r.yaml:3: process[0].text_chunk_mapper: makes several records of one");
        assertThat(scene.job.path()).doesNotExist();
    }

    @Test
    void a_checkpoint_of_other_work_is_refused_by_the_names_of_what_differs() throws IOException {
        scene.write("a.jsonl", "{\"id\":1}\n{\"id\":2}\n");
        Path path = folder.resolve("checkpoint");
        Map<String, Object> identity = new TreeMap<>(Map.of("data_juicer", "1.6.1", "process[0].some.min_len", 10));
        identity.put("text_keys", null);
        write(path.resolve("part-00000-of-00002-aa/0001-a.log"), "{\"bytes\":0,\"iden"); // died in its first moment
        write(
                path.resolve("part-00000-of-00002-bb/0001-b.log"),
                "{\"bytes\":0,\"chain\":\"00\",\"identity\":{\"data_juicer\":\"1.6.1\",\"id_column\":\"id\","
                        + "\"isolate_poison\":false,\"process[0].some.min_len\":10,\"text_keys\":null}}\n\n");
        checkpoint(path, List.of(), identity);
        assertThat(scene.prepare()).isInstanceOf(Prepared.Made.class);

        Files.move(scene.job.path(), folder.resolve("the-first-job"));
        identity.put("process[0].some.min_len", 11);
        identity.put("seed", 7);
        checkpoint(path, List.of(), identity);
        assertThatThrownBy(scene::prepare)
                .isInstanceOf(IntakeException.class)
                .hasMessageContaining(path + " was made by other work: process[0].some.min_len was 10, is 11; seed was"
                        + " null, is 7. ");
        assertThat(scene.job.path()).doesNotExist();
    }

    @Test
    void a_checkpoint_among_the_input_is_refused() throws IOException {
        scene.write("a.jsonl", "{\"id\":1}\n{\"id\":2}\n");
        checkpoint(scene.input.resolve("checkpoint"), List.of(), Map.of());
        assertThatThrownBy(scene::prepare)
                .isInstanceOf(IntakeException.class)
                .hasMessageContaining("lies in the dataset path");
    }

    @Test
    void ids_are_checked_in_the_one_reading_that_cuts_ranges() throws IOException {
        scene.form = ShardForm.RANGES;
        scene.write(
                "a.jsonl",
                IntStream.range(0, 5000).mapToObj(i -> "{\"id\":" + i + "}\n").collect(Collectors.joining()));
        assertThat(scene.prepare().manifest().shardForm()).isEqualTo(ShardForm.RANGES);
        assertThat(folder.resolve("scratch")).doesNotExist();
    }

    private static void write(Path file, String content) throws IOException {
        Files.createDirectories(file.getParent());
        Files.writeString(file, content);
    }
}
