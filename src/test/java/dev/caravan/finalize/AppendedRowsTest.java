package dev.caravan.finalize;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.caravan.shard.Engine;
import dev.caravan.shard.Execution;
import dev.caravan.shard.Manifest;
import dev.caravan.shard.MiniBatch;
import dev.caravan.store.Json;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A job of mini-batches with two items each: two in the first shard, the second of which is short; one that is whole in the other. */
class AppendedRowsTest {
    private static final String FIRST = """
            {"mini_batch":0,"items":2,"succeeded":2,"results":["a: 1","b\\u2028 \\"2\\""]}
            {"mini_batch":1,"items":2,"succeeded":1,"results":["c"]}
            """;
    private static final String SECOND = "{\"mini_batch\":2,\"items\":2,\"succeeded\":2,\"results\":[\"é\",\"\"]}\n";

    @TempDir
    Path folder;

    private FinishedJob job(long errorThreshold, String action) throws IOException {
        FinishedJob job = FinishedJob.in(folder, FIRST, SECOND);
        MiniBatch options = new MiniBatch(
                List.of("/in"),
                "file",
                new MiniBatch.Size(2L, null),
                errorThreshold,
                -1,
                100,
                action,
                "rows.txt",
                null,
                60,
                3,
                600,
                "INFO",
                List.of(),
                0,
                null);
        Manifest manifest = job.files.manifest();
        Files.write(
                job.layout.manifest(),
                Json.bytes(manifest.with(
                        new Execution(Engine.MINI_BATCH, List.of(), Execution.Ray.DEFAULT, null, null, options, null),
                        manifest.policy())));
        for (int shard = 0; shard < 2; shard++) {
            Path record = job.layout.done(job.id(shard));
            ObjectNode said = (ObjectNode) Json.tree(Files.readAllBytes(record));
            said.set("operators", Json.tree(Json.bytes(MiniBatch.Failed.lines(4, shard + 1, 2, 1))));
            Files.write(record, Json.bytes(said));
        }
        return job;
    }

    @Test
    void what_run_returned_is_a_line_each_in_the_order_of_the_mini_batches() throws IOException {
        FinishedJob job = job(-1, "append_row");
        Path rows = job.layout.scriptOutput().resolve("rows.txt");

        job.merge();
        assertThat(rows).content().isEqualTo("a: 1\nb\u2028 \"2\"\nc\né\n\n");

        Files.delete(rows);
        job.merge();
        assertThat(rows).as("made again").exists();
        assertThat(appended(job).ok()).isTrue();
        Files.writeString(rows, "a: 2\n");
        assertThat(appended(job).findings()).singleElement().asString().contains("expected what the merged file says");
    }

    private static Verification.Step appended(FinishedJob job) {
        return Verifier.verify(job.files, Verifier.Options.ALL).steps().stream()
                .filter(step -> step.name().equals("appended rows"))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void a_summary_needs_no_file() throws IOException {
        FinishedJob job = job(-1, "summary_only");

        job.merge();

        assertThat(job.layout.scriptOutput()).doesNotExist();
    }

    @Test
    void the_failures_of_all_shards_are_counted_before_anything_is_merged() throws IOException {
        assertThat(job(3, "append_row").merge().rows()).isEqualTo(3);
        FinishedJob job = job(2, "append_row");
        Files.deleteIfExists(job.output);
        Files.deleteIfExists(job.layout.mergeRecord());

        assertThatThrownBy(job::merge)
                .isInstanceOf(MergeException.class)
                .hasMessageContaining("3 items failed, error_threshold is 2");
        assertThat(job.output).doesNotExist();
    }
}
