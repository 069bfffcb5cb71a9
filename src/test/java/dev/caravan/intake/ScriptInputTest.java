package dev.caravan.intake;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.caravan.CaravanException;
import dev.caravan.job.DescriptorReader;
import dev.caravan.job.JobDescriptor;
import dev.caravan.shard.Execution;
import dev.caravan.shard.Manifest;
import dev.caravan.store.Disk;
import dev.caravan.store.Json;
import dev.caravan.store.Layout;
import dev.caravan.store.ScriptFolder;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A job whose input its script makes; what the Python side does is told here. */
class ScriptInputTest {
    @TempDir
    Path folder;

    private int planned;
    private int items = 40;
    private Layout.Job job;

    /** The script plans {@link #items}. */
    private final Scripts scripts = new Scripts() {
        @Override
        public void check(Execution execution) {
            if (!Files.exists(Path.of(execution.script().path()))) {
                throw new CaravanException("no script");
            }
        }

        @Override
        public long plan(Path request, Runnable check) {
            planned++;
            check.run();
            try {
                ScriptInput.Request asked = Json.parse(Files.readAllBytes(request), ScriptInput.Request.class);
                assertThat(Path.of(asked.script())).hasContent("the task");
                Files.writeString(
                        Path.of(asked.output()),
                        IntStream.range(0, items)
                                .mapToObj(i -> "{\"id\": " + i + "}\n")
                                .collect(Collectors.joining()));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            return items;
        }

        @Override
        public void collect(Path request) {
            throw new AssertionError("no run was left");
        }
    };

    @BeforeEach
    void script() throws IOException {
        Files.createDirectories(folder.resolve("code/lib/__pycache__"));
        Files.writeString(folder.resolve("code/task.py"), "the task");
        Files.writeString(folder.resolve("code/lib/more.py"), "a module");
        Files.writeString(folder.resolve("code/lib/__pycache__/more.pyc"), "compiled");
        job = new Layout.Job(folder.resolve("jobs/one"));
        Files.createDirectories(folder.resolve("jobs"));
    }

    private JobDescriptor asked(String more) {
        String text = "{name: one, engine: plan-execute, script: code/task.py, source_directory: code" + more + "}";
        return DescriptorReader.read(text.getBytes(StandardCharsets.UTF_8), "job.yaml", folder);
    }

    private Prepared prepare(String more) {
        Preparation preparation = new Preparation(
                recipe -> {
                    throw new AssertionError("no recipe");
                },
                scripts,
                () -> false,
                1 << 20,
                any -> 1,
                folder);
        return preparation.prepare(asked(more), job, () -> true, Progress.NONE);
    }

    @Test
    void the_plan_is_the_job_s_own_input_and_is_made_once() throws IOException {
        Manifest manifest = prepare(", plan_execute: {workers: 2}").manifest();

        assertThat(manifest.totalRows()).isEqualTo(40);
        assertThat(manifest.datasetPath()).isEqualTo(job.plan().toString());
        assertThat(manifest.inputFiles())
                .singleElement()
                .satisfies(file -> assertThat(file.path()).isEqualTo(job.plan().toString()));
        assertThat(manifest.shards())
                .hasSize(5)
                .allSatisfy(shard -> assertThat(shard.ranges())
                        .allSatisfy(range ->
                                assertThat(range.file()).isEqualTo(job.plan().toString())));
        assertThat(Json.line(manifest)).doesNotContain("preparing");
        assertThat(job.script().resolve("lib/more.py")).hasContent("a module");
        assertThat(job.script().resolve("lib/__pycache__")).doesNotExist();
        assertThat(ScriptFolder.snapshot(job.script()).sha256())
                .isEqualTo(manifest.execution().script().sha256());

        items = 7;
        assertThat(prepare(", plan_execute: {workers: 2}")).isInstanceOf(Prepared.Unchanged.class);
        assertThat(planned).isEqualTo(1);

        Files.writeString(folder.resolve("code/lib/more.py"), "another module");
        assertThatThrownBy(() -> prepare(", plan_execute: {workers: 2}"))
                .hasMessageContaining("does not match this request: execution was");
    }

    @Test
    void a_number_of_shards_that_is_asked_for_is_made() {
        assertThat(prepare(", num_shards: 3, shards: files").manifest().shards())
                .hasSize(3)
                .extracting(Manifest.Shard::path)
                .doesNotContainNull();
    }

    @Test
    void a_plan_without_items_makes_no_job_and_leaves_nothing() throws IOException {
        items = 0;
        assertThatThrownBy(() -> prepare(""))
                .isInstanceOf(IntakeException.class)
                .hasMessage(Scripts.NOTHING + folder.resolve("code/task.py"));
        try (Stream<Path> left = Files.list(folder.resolve("jobs"))) {
            assertThat(left).isEmpty();
        }
        assertThat(Disk.exists(job.path())).isFalse();
    }
}
