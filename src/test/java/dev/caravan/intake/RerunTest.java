package dev.caravan.intake;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.caravan.finalize.Verification;
import dev.caravan.finalize.Verifier;
import dev.caravan.jsonl.Sha256;
import dev.caravan.shard.BadRecords;
import dev.caravan.shard.DoneRecord;
import dev.caravan.shard.Ledger;
import dev.caravan.shard.Manifest;
import dev.caravan.shard.OnBadRecord;
import dev.caravan.shard.Poison;
import dev.caravan.shard.Policy;
import dev.caravan.store.JobFiles;
import dev.caravan.store.Layout;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Three shards of two records each, with bad lines before, in, between and behind them. */
class RerunTest {
    private static final String INPUT = """
            bad 0
            {"i":1}
            bad 2
            bad 3
            {"i":4}
            {"i":5}
            {"i":6}
            bad 7
            {"i":8}
            {"i":9}
            bad 10\r\r
            """;

    @TempDir
    Path folder;

    private Scene scene;
    private Layout.Job repairedJob;
    private Path repaired;

    @BeforeEach
    void a_job_with_bad_lines() throws IOException {
        scene = new Scene(folder.toRealPath());
        scene.shards = 3;
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
        scene.write("a.jsonl", INPUT);
        repairedJob = new Layout.Job(scene.root.resolve("jobs/j2"));
        repaired = scene.root.resolve("repaired.txt");
    }

    private Rerun.Made rerun(String lines) throws IOException {
        Files.writeString(repaired, lines);
        return Rerun.run(
                Clock.systemUTC(),
                new Rerun.Request(scene.job, repairedJob, repaired, repairedJob.mergedByDefault(), scene.root));
    }

    private List<String> shards(Manifest manifest) {
        return manifest.shards().stream()
                .map(shard -> {
                    try {
                        return Files.readString(repairedJob.resolve(shard.path()));
                    } catch (IOException e) {
                        throw new AssertionError(e);
                    }
                })
                .toList();
    }

    private static String rows(int... numbers) {
        StringBuilder rows = new StringBuilder();
        for (int number : numbers) {
            rows.append("{\"i\":").append(number).append("}\n");
        }
        return rows.toString();
    }

    @Test
    void each_repaired_record_comes_to_the_place_of_its_line() throws IOException {
        Manifest old = scene.prepare().manifest();
        assertThat(scene.shardTexts(old)).containsExactly(rows(1, 4), rows(5, 6), rows(8, 9));

        Manifest made = rerun(rows(0, 2, 3, 7, 10)).manifest();

        assertThat(shards(made)).containsExactly(rows(0, 1, 2, 3, 4), rows(5, 6), rows(7, 8, 9, 10));
        assertThat(made.quarantine()).isNull();
        assertThat(made.totalRows()).isEqualTo(11);
        assertThat(made.inputFiles()).extracting(Manifest.InputFile::rows).containsExactly(11L);
        assertThat(made.repair()).isNotNull().satisfies(repair -> {
            assertThat(repair.repairedJob()).isEqualTo(scene.job.path().toString());
            assertThat(repair.rows()).isEqualTo(5);
        });
        assertThat(new JobFiles(scene.job).manifest()).as("the old job").isEqualTo(old);
        assertChain();
    }

    @Test
    void a_line_left_blank_stays_quarantined_with_its_bytes_and_can_be_repaired_later() throws IOException {
        scene.prepare();

        Manifest first = rerun("\n" + rows(2) + "  \n" + rows(7) + "\n").manifest();

        assertThat(shards(first)).containsExactly(rows(1, 2, 4), rows(5, 6), rows(7, 8, 9));
        assertThat(first.quarantined()).isEqualTo(3);
        assertThat(Files.readString(repairedJob.quarantinedLines())).isEqualTo("bad 0\nbad 3\nbad 10\r\n");
        assertChain();

        Layout.Job third = new Layout.Job(scene.root.resolve("jobs/j3"));
        Files.writeString(repaired, rows(0, 3, 10));
        Rerun.run(
                Clock.systemUTC(),
                new Rerun.Request(repairedJob, third, repaired, third.mergedByDefault(), scene.root));
        repairedJob = third;

        assertThat(shards(new JobFiles(third).manifest()))
                .containsExactly(rows(0, 1, 2, 3, 4), rows(5, 6), rows(7, 8, 9, 10));
        assertChain();
    }

    @Test
    void an_index_key_gets_the_number_that_was_left_free() throws IOException {
        scene.recipe("process: []\n", Map.of(), List.of("n"));
        scene.prepare();

        Manifest made = rerun(rows(0, 2) + "{\"n\":-1}\n" + rows(7, 10)).manifest();

        assertThat(String.join("", shards(made)).lines().toList())
                .containsExactly(
                        "{\"i\":0,\"n\":0}",
                        "{\"i\":1,\"n\":1}",
                        "{\"i\":2,\"n\":2}",
                        "{\"n\":-1}",
                        "{\"i\":4,\"n\":4}",
                        "{\"i\":5,\"n\":5}",
                        "{\"i\":6,\"n\":6}",
                        "{\"i\":7,\"n\":7}",
                        "{\"i\":8,\"n\":8}",
                        "{\"i\":9,\"n\":9}",
                        "{\"i\":10,\"n\":10}");
        assertThat(repairedJob.recipe()).hasContent("process: []\n");
    }

    @Test
    void only_shards_that_get_no_record_keep_their_results() throws IOException {
        Manifest old = scene.prepare().manifest();
        for (Manifest.Shard shard : old.shards()) {
            finish(shard);
        }

        Rerun.Made made = rerun("\n\n\n" + rows(7) + "\n");

        JobFiles files = new JobFiles(repairedJob);
        assertThat(made.reused()).isEqualTo(2);
        assertThat(files.doneShards())
                .containsExactlyInAnyOrder(
                        old.shards().get(0).id(), old.shards().get(1).id());
        DoneRecord reused = files.done(old.shards().get(1).id()).orElseThrow();
        assertThat(repairedJob.resolve(reused.outputPath())).hasContent(rows(5, 6));
        assertThat(Verifier.verify(files, Verifier.Options.ALL).findings())
                .as("all but the shard that is to be done again")
                .extracting(Object::toString)
                .allSatisfy(
                        finding -> assertThat(finding).containsAnyOf("part-00002-of-00003: ", "run 'caravan merge'"));
    }

    private void finish(Manifest.Shard shard) throws IOException {
        Path result = scene.job.attempt(shard.id(), 1, "token").processed();
        Files.createDirectories(result.getParent());
        Files.copy(scene.job.resolve(shard.path()), result);
        new JobFiles(scene.job)
                .publishDone(new DoneRecord(
                        shard.id(),
                        "node",
                        "host",
                        7,
                        "token",
                        1,
                        1,
                        scene.job.relative(result),
                        "command",
                        null,
                        Ledger.of(shard.rows(), shard.rows(), 0),
                        List.of(),
                        null,
                        shard.bytes(),
                        shard.sha256(),
                        List.of(),
                        null,
                        false,
                        0.1,
                        "2026-10-01T11:00:00Z"));
    }

    @Test
    void lines_that_do_not_fit_the_quarantine_are_refused_and_nothing_is_made() throws IOException {
        scene.prepare();

        refuses(rows(0, 2), "must have a line for each quarantined one, in their order: expected 5 lines, found 2");
        refuses(rows(0, 2, 3, 7) + "bad 10\n", "no records still; the first are:\n  line 5, byte 32");
        refuses("\n\n\n\n\n", "is repaired: all are blank");
    }

    @Test
    void a_job_without_quarantine_and_a_name_that_is_taken_are_refused() throws IOException {
        scene.prepare();
        Files.createDirectories(repairedJob.path());
        assertThatThrownBy(() -> rerun(rows(0, 2, 3, 7, 10)))
                .isInstanceOf(IntakeException.class)
                .hasMessageContaining("j2 exists: a job never changes what it is");

        Scene clean = new Scene(Files.createDirectory(scene.root.resolve("clean")));
        clean.write("a.jsonl", rows(1, 2));
        clean.prepare();
        Files.delete(repaired);
        assertThatThrownBy(() -> Rerun.run(
                        Clock.systemUTC(),
                        new Rerun.Request(clean.job, repairedJob, repaired, repairedJob.mergedByDefault(), scene.root)))
                .hasMessageContaining("nothing is quarantined in job " + clean.job.path());
    }

    @Test
    void a_file_that_is_not_there_is_told_with_where_to_begin() {
        scene.prepare();

        assertThatThrownBy(() -> Rerun.run(
                        Clock.systemUTC(),
                        new Rerun.Request(scene.job, repairedJob, repaired, repairedJob.mergedByDefault(), scene.root)))
                .isInstanceOf(IntakeException.class)
                .hasMessageContaining("expected a file " + repaired + ", found none; begin with a copy of "
                        + scene.job.quarantinedLines());
    }

    @Test
    void damage_of_the_old_job_is_found() throws IOException {
        Manifest old = scene.prepare().manifest();
        Path shard = scene.job.resolve(old.shards().get(1).path());
        Files.writeString(shard, rows(5, 7));
        refuses(rows(0, 2, 3, 7, 10), shard + " is not the shard that the manifest describes");

        Files.writeString(shard, rows(5, 6));
        Files.writeString(scene.job.quarantinedLines(), "{}\n".repeat(5));
        refuses(rows(0, 2, 3, 7, 10), scene.job.quarantinedLines() + " was changed: expected line 1 of ");
    }

    private void refuses(String lines, String message) {
        assertThatThrownBy(() -> rerun(lines))
                .isInstanceOf(IntakeException.class)
                .hasMessageContaining(message);
        assertThat(scene.besideJob()).containsExactly("j1");
    }

    /** From the input to the shards. */
    private void assertChain() throws IOException {
        Manifest manifest = new JobFiles(repairedJob).manifest();
        Verification verification = Verifier.verify(new JobFiles(repairedJob), Verifier.Options.ALL);
        assertThat(verification.steps().subList(0, 4)).allMatch(Verification.Step::ok);
        assertThat(manifest.normalizedSha256())
                .isEqualTo(Sha256.hex(String.join("", shards(manifest)).getBytes(StandardCharsets.UTF_8)));
    }
}
