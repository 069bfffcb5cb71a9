package dev.caravan.finalize;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.caravan.shard.Ledger;
import dev.caravan.shard.MergeRecord;
import dev.caravan.shard.MergeRecord.Node;
import dev.caravan.shard.MergeRecord.Part;
import dev.caravan.shard.OperatorRows;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class MergerTest {
    private static final String FIRST = "{\"a\":\"é\"}\n{\"a\":2}\n";
    private static final String SECOND = "";
    private static final String THIRD = "{\"c\":1}\n";

    @TempDir
    Path folder;

    @Test
    void results_are_merged_in_manifest_order_and_recorded() throws IOException {
        FinishedJob job = job();

        MergeRecord record = job.merge();

        assertThat(job.output).hasContent(FIRST + SECOND + THIRD);
        assertThat(record)
                .isEqualTo(new MergeRecord(
                        job.output.toString(),
                        3,
                        0,
                        27,
                        FinishedJob.sha256(FIRST + THIRD),
                        new Ledger(6, 3, 2, 0, 1),
                        List.of(new OperatorRows("some_filter", 5, 3)),
                        List.of(
                                new Part(job.id(0), 2, 19, FinishedJob.sha256(FIRST), "node-a", job.recordSha256(0)),
                                new Part(job.id(1), 0, 0, FinishedJob.sha256(""), "node-b", job.recordSha256(1)),
                                new Part(job.id(2), 1, 8, FinishedJob.sha256(THIRD), "node-a", job.recordSha256(2))),
                        List.of(new Node("node-a", "host-a", 2), new Node("node-b", "host-b", 1)),
                        List.of("a warning"),
                        FinishedJob.sha256(Files.readString(job.layout.manifest())),
                        "node-m",
                        "2026-10-01T12:00:00Z",
                        record.seal()));
        assertThat(record.seal()).isEqualTo(Seals.of(record.sealed("")));
        assertThat(job.files.merged()).contains(record);
        assertNothingElse(job, "merged.jsonl");
    }

    @Test
    void results_that_are_all_empty_make_an_empty_file() throws IOException {
        FinishedJob job = FinishedJob.in(folder, "", "");

        assertThat(job.merge().rows()).isZero();
        assertThat(job.output).isEmptyFile();
    }

    @Test
    void order_is_that_of_the_shards_and_not_of_their_names_or_times() throws IOException {
        String[] results = new String[12];
        StringBuilder expected = new StringBuilder();
        for (int i = 0; i < results.length; i++) {
            results[i] = "{\"n\":" + (results.length - i) + "}\n";
            expected.append(results[i]);
        }
        FinishedJob job = FinishedJob.in(folder, results);

        job.merge();

        assertThat(job.output).hasContent(expected.toString());
    }

    @Test
    void a_job_with_missing_shards_is_not_merged() throws IOException {
        FinishedJob job = job();
        Files.delete(job.layout.done(job.id(1)));
        Files.delete(job.layout.done(job.id(2)));

        assertThatThrownBy(job::merge)
                .isInstanceOf(MergeException.class)
                .hasMessage(
                        "job " + job.layout.path() + " is not complete: expected 3 done shards, found 1, missing for"
                                + " example part-00001-of-00003; wait for them, 'caravan status' shows where they are");
        assertNothingWasMerged(job);
    }

    @Test
    void a_job_with_failed_shards_says_why_they_failed() throws IOException {
        FinishedJob job = job();
        job.fail(2, "exit code 1");

        assertThatThrownBy(job::merge)
                .hasMessageContaining("expected 3 done shards, found 2, missing for example part-00002-of-00003;"
                        + " 1 failed for good, for example part-00002-of-00003: 4 failing attempts, the last (data, on"
                        + " node-a): exit code 1; see attempts/x/process.log")
                .hasMessageContaining("caravan retry");
    }

    @Test
    void a_shard_that_is_both_failed_and_done_is_done() throws IOException {
        FinishedJob job = job();
        byte[] done = Files.readAllBytes(job.layout.done(job.id(2)));
        job.fail(2, "late");
        Files.write(job.layout.done(job.id(2)), done);

        assertThat(job.merge().rows()).isEqualTo(3);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "\"filtered\" : 0|\"filtered\" : 1|expected rows in + expanded = rows out + filtered + failed,"
                        + " found 2 + 0 and 2 + 1 + 0",
                "\"rows_in\" : 2|\"rows_in\" : 1|expected rows_in 2, found 1"
            })
    void rows_that_are_not_accounted_for_stop_the_merge(String was, String is, String problem) throws IOException {
        FinishedJob job = FinishedJob.in(folder, FIRST);
        FinishedJob.replaceIn(job.layout.done(job.id(0)), was, is);

        assertThatThrownBy(job::merge)
                .isInstanceOf(MergeException.class)
                .hasMessageContaining(
                        "the rows of part-00000-of-00001 do not add up: " + job.layout.done(job.id(0)) + ": " + problem)
                .hasMessageContaining("caravan retry --shard-id part-00000-of-00001");
        assertNothingWasMerged(job);
    }

    @Test
    void a_merge_record_that_was_changed_is_written_anew() throws IOException {
        FinishedJob job = job();
        MergeRecord first = job.merge();
        FinishedJob.replaceIn(job.layout.mergeRecord(), "node-m", "node-n");

        assertThat(job.merge()).isEqualTo(first);
        assertThat(job.files.merged()).contains(first);
    }

    @Test
    void a_flipped_byte_of_a_result_stops_the_merge_and_names_the_shard() throws IOException {
        FinishedJob job = job();
        FinishedJob.replaceIn(job.result(2), "1", "7");

        assertThatThrownBy(job::merge)
                .isInstanceOf(MergeException.class)
                .hasMessageContaining("the result of part-00002-of-00003 was changed after it was recorded in "
                        + job.layout.done(job.id(2)))
                .hasMessageContaining(job.result(2) + ": expected 1 rows, 8 bytes, sha256 "
                        + FinishedJob.sha256(THIRD) + ", found 1 rows, 8 bytes, sha256 "
                        + FinishedJob.sha256("{\"c\":7}\n"));
        assertNothingWasMerged(job);
    }

    @Test
    void a_result_that_is_no_json_any_more_is_refused_with_its_line() throws IOException {
        FinishedJob job = job();
        FinishedJob.replaceIn(job.result(0), "2}", "2]");

        assertThatThrownBy(job::merge)
                .isInstanceOf(MergeException.class)
                .hasMessageContaining("the result of part-00000-of-00003 was changed")
                .hasMessageContaining("line 2");
        assertNothingWasMerged(job);
    }

    @Test
    void results_that_are_missing_or_of_another_size_are_reported_together() throws IOException {
        FinishedJob job = job();
        Files.delete(job.result(0));
        Files.writeString(job.result(1), "\n");

        assertThatThrownBy(job::merge)
                .hasMessageContaining("2 of 3 results of job " + job.layout.path() + " are damaged:")
                .hasMessageContaining(
                        "part-00000-of-00003: expected the result " + job.result(0) + ", found no such file")
                .hasMessageContaining("part-00001-of-00003: " + job.result(1) + ": expected 0 bytes, found 1")
                .hasMessageContaining("caravan retry --shard-id");
        assertNothingWasMerged(job);
    }

    @ParameterizedTest
    @ValueSource(strings = {"mine", "{\"a\":\"é\"}\n{\"a\":2}\n{\"c\":9}\n", ""})
    void a_file_that_is_not_the_result_is_not_replaced_without_being_asked(String theirs) throws IOException {
        FinishedJob job = job();
        Files.createDirectories(job.output.getParent());
        Files.writeString(job.output, theirs);

        assertThatThrownBy(job::merge)
                .isInstanceOf(MergeException.class)
                .hasMessageContaining("the output " + job.output + " exists and is not this job's result")
                .hasMessageContaining("--overwrite");
        assertThat(job.output).hasContent(theirs);
        assertNothingElse(job, "merged.jsonl");
        assertThat(job.files.merged()).isEmpty();

        job.mergeOverwriting();
        assertThat(job.output).hasContent(FIRST + THIRD);
        assertNothingElse(job, "merged.jsonl");
    }

    @Test
    void merging_again_keeps_file_and_record_as_they_are() throws IOException {
        FinishedJob job = job();
        MergeRecord first = job.merge();
        Object inode = inode(job.output);

        MergeRequest later = new MergeRequest(job.files, job.output, false, "another node", () -> true);

        assertThat(job.merge(later)).isEqualTo(first);
        assertThat(job.mergeOverwriting()).isEqualTo(first);
        assertThat(inode(job.output)).isEqualTo(inode);
        assertThat(job.files.merged()).contains(first);
    }

    @Test
    void a_merge_killed_between_publication_and_record_is_completed() throws IOException {
        FinishedJob job = job();
        MergeRecord first = job.merge();
        Object inode = inode(job.output);
        Files.delete(job.layout.mergeRecord());

        assertThat(job.merge()).isEqualTo(first);
        assertThat(inode(job.output)).isEqualTo(inode);
        assertThat(job.files.merged()).contains(first);
    }

    @Test
    void a_merged_file_that_was_changed_is_not_taken_for_the_result() throws IOException {
        FinishedJob job = job();
        MergeRecord first = job.merge();
        FinishedJob.replaceIn(job.output, "2", "3");

        assertThatThrownBy(job::merge).hasMessageContaining("is not this job's result (expected sha256 ");
        assertThat(job.mergeOverwriting()).isEqualTo(first);
        assertThat(job.output).hasContent(FIRST + THIRD);
    }

    @Test
    void a_merged_file_of_results_that_were_made_again_is_not_the_result() throws IOException {
        FinishedJob.in(folder, FIRST, SECOND, "{\"c\":9}\n").merge();
        FinishedJob job = job();

        assertThatThrownBy(job::merge).hasMessageContaining("is not this job's result (expected sha256 ");
        assertThat(job.mergeOverwriting().sha256()).isEqualTo(FinishedJob.sha256(FIRST + THIRD));
        assertThat(job.output).hasContent(FIRST + THIRD);
    }

    @Test
    void a_record_that_cannot_be_read_is_written_anew() throws IOException {
        FinishedJob job = job();
        MergeRecord first = job.merge();
        Files.writeString(job.layout.mergeRecord(), "{");

        assertThat(job.merge()).isEqualTo(first);
        assertThat(job.files.merged()).contains(first);
    }

    @Test
    void a_killed_merge_leaves_nothing_for_long() throws IOException {
        FinishedJob job = job();
        job.merge();
        Files.delete(job.output);
        Path half = job.output.resolveSibling(hiddenNameOf(job));
        Files.writeString(half, "{\"a\"");
        Path foreign = Files.writeString(job.output.resolveSibling(".caravan-0123456789abcdef-x"), "of another job");

        job.merge();

        assertThat(half).doesNotExist();
        assertThat(foreign).exists();
    }

    @Test
    void an_owner_that_loses_the_role_publishes_nothing() throws IOException {
        FinishedJob job = job();
        for (int asks = 0; asks < 6; asks++) {
            AtomicInteger left = new AtomicInteger(asks);
            MergeRequest request =
                    new MergeRequest(job.files, job.output, false, "node-m", () -> left.getAndDecrement() > 0);
            assertThatThrownBy(() -> job.merge(request))
                    .as("lost at question %d", asks)
                    .isInstanceOf(MergeException.class)
                    .hasMessageContaining("lost the role finalize");
            assertThat(job.files.merged()).as("lost at question %d", asks).isEmpty();
            assertThat(Files.exists(job.output)).as("lost at question %d", asks).isEqualTo(asks == 5);
        }
        assertThat(job.merge().rows()).isEqualTo(3);
        assertNothingElse(job, "merged.jsonl");
    }

    @Test
    void of_many_mergers_at_once_none_spoils_the_file() throws Exception {
        FinishedJob job = job();
        ExecutorService pool = Executors.newFixedThreadPool(8);
        try {
            List<Callable<MergeRecord>> mergers = new ArrayList<>();
            for (int i = 0; i < 8; i++) {
                mergers.add(job::merge);
            }
            int merged = 0;
            for (Future<MergeRecord> merger : pool.invokeAll(mergers)) {
                try {
                    merger.get();
                    merged++;
                } catch (ExecutionException removed) {
                    assertThat(removed).cause().hasMessageContaining("was removed by another process that writes");
                }
            }
            assertThat(merged).isPositive();
        } finally {
            pool.shutdownNow();
        }
        assertThat(job.output).hasContent(FIRST + THIRD);
        assertNothingElse(job, "merged.jsonl");
    }

    @Test
    void the_output_must_not_be_anything_the_job_is_made_of() throws IOException {
        FinishedJob job = job();
        for (Path own : List.of(
                job.input,
                job.shardFile(0),
                job.result(0),
                job.layout.manifest(),
                job.layout.mergeRecord(),
                job.layout.state().resolve("x"),
                job.output.resolveSibling("merged.jsonl.gz"),
                folder)) {
            MergeRequest request = new MergeRequest(job.files, own, true, "node-m", () -> true);
            assertThatThrownBy(() -> job.merge(request))
                    .as("%s", own)
                    .isInstanceOf(MergeException.class)
                    .hasMessageContaining("the output must have a place of its own, found " + own + ", which is a");
        }
        MergeRequest inJob = new MergeRequest(job.files, job.layout.mergedByDefault(), false, "node-m", () -> true);
        assertThat(job.merge(inJob).rows()).isEqualTo(3);
    }

    @Test
    void a_folder_that_cannot_be_made_is_an_error_that_says_so() throws IOException {
        FinishedJob job = job();
        Files.writeString(job.output.getParent(), "a file where the folder should be");

        assertThatThrownBy(job::merge)
                .isInstanceOf(MergeException.class)
                .hasMessageContaining("cannot merge job " + job.layout.path() + " into " + job.output)
                .hasMessageContaining("merge again");
    }

    private FinishedJob job() throws IOException {
        return FinishedJob.in(folder, FIRST, SECOND, THIRD);
    }

    private static String hiddenNameOf(FinishedJob job) {
        return ".caravan-" + FinishedJob.sha256(job.layout.path().toString()).substring(0, 16) + "-killed";
    }

    private static Object inode(Path file) throws IOException {
        return Files.getAttribute(file, "unix:ino");
    }

    private static void assertNothingWasMerged(FinishedJob job) throws IOException {
        assertThat(job.files.merged()).isEmpty();
        if (Files.exists(job.output.getParent())) {
            assertNothingElse(job);
        }
    }

    private static void assertNothingElse(FinishedJob job, String... names) throws IOException {
        try (var files = Files.list(job.output.getParent())) {
            assertThat(files.map(file -> file.getFileName().toString())).containsExactlyInAnyOrder(names);
        }
    }
}
