package dev.caravan.finalize;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.caravan.finalize.Verification.Finding;
import dev.caravan.finalize.Verification.Step;
import dev.caravan.store.Json;
import dev.caravan.store.StoreException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class VerifierTest {
    private static final String FIRST = "{\"a\":1}\n{\"a\":2}\n";
    private static final String SECOND = "";
    private static final String THIRD = "{\"c\":1}\n";

    @TempDir
    Path folder;

    private FinishedJob job;

    @BeforeEach
    void merged() throws IOException {
        job = FinishedJob.in(folder, FIRST, SECOND, THIRD);
        job.merge();
    }

    @Test
    void a_sound_job_passes_every_step_with_numbers() throws IOException {
        Verification verification = verify();

        assertThat(verification.findings()).isEmpty();
        assertThat(verification.ok()).isTrue();
        String input = FinishedJob.sha256(Files.readString(job.input));
        String merged = FinishedJob.sha256(FIRST + THIRD);
        assertThat(verification.steps())
                .containsExactly(
                        sound(
                                "manifest",
                                "3 shards, 6 rows, 120 bytes",
                                FinishedJob.sha256(Files.readString(job.layout.manifest()))),
                        sound("inputs", "1 files, 120 bytes", input),
                        sound("quarantine", "0 bad records set aside", null),
                        sound("shards", "3 files, 6 rows, 120 bytes", input),
                        sound(
                                "results",
                                "3 of 3 shards done, 3 rows, 24 bytes; 6 rows in, 3 out, 2 filtered, 0 expanded, 1"
                                        + " failed",
                                merged),
                        sound("claims", "3 of 3 claims seen, each of the node of the result", null),
                        sound("merged", job.output + ": 3 rows, 24 bytes of 3 shards", merged),
                        sound(
                                "seals",
                                "merge record, manifest and 3 done records",
                                job.files.merged().orElseThrow().seal()),
                        sound("nodes", "2 host names [host-a, host-b]", null));
    }

    private static Step sound(String name, String summary, @Nullable String sha256) {
        return new Step(name, true, summary, sha256, 0, List.of());
    }

    /** Every byte of every file of the chain, one at a time; of long files each seventh. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "input",
                "manifest",
                "recipe",
                "shard",
                "done record",
                "result",
                "failed records",
                "merged file",
                "merge record"
            })
    void a_flipped_byte_anywhere_is_found_and_located(String what) throws IOException {
        Path file = Map.of(
                        "input", job.input,
                        "manifest", job.layout.manifest(),
                        "recipe", job.layout.recipe(),
                        "shard", job.shardFile(1),
                        "done record", job.layout.done(job.id(1)),
                        "result", job.result(0),
                        "failed records", job.failures(1),
                        "merged file", job.output,
                        "merge record", job.layout.mergeRecord())
                .get(what);
        byte[] whole = Files.readAllBytes(file);
        for (int i = 0; i < whole.length; i += whole.length > 200 ? 7 : 1) {
            byte[] flipped = whole.clone();
            flipped[i] ^= 1;
            Files.write(file, flipped);

            Verification verification = verify();

            assertThat(verification.ok()).as("byte %d of the %s", i, what).isFalse();
            assertThat(verification.findings())
                    .as("byte %d of the %s", i, what)
                    .anyMatch(finding -> finding.file().equals(file.toString()));
        }
        Files.write(file, whole);
        assertThat(verify().ok()).isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"input", "shard", "result", "merged file"})
    void a_flipped_byte_of_a_row_is_told_with_its_line(String what) throws IOException {
        Path file = Map.of(
                        "input",
                        job.input,
                        "shard",
                        job.shardFile(1),
                        "result",
                        job.result(0),
                        "merged file",
                        job.output)
                .get(what);
        byte[] bytes = Files.readAllBytes(file);
        int line = what.equals("input") ? 6 : 2;
        int inLine = Files.readString(file)
                        .lines()
                        .limit(line - 1)
                        .mapToInt(text -> text.length() + 1)
                        .sum()
                + 3;
        bytes[inLine] ^= 1;
        Files.write(file, bytes);

        assertThat(verify().findings())
                .filteredOn(finding -> finding.file().equals(file.toString()))
                .singleElement()
                .satisfies(finding -> assertThat(finding.problem())
                        .contains("; the first byte that differs from ", " is byte " + inLine + ", in line " + line));
    }

    @Test
    void a_result_of_a_second_attempt_is_compared_with_that_attempts_claim() throws IOException {
        FinishedJob.replaceIn(job.layout.done(job.id(2)), "\"speculative\" : false", "\"speculative\" : true");
        FinishedJob.replaceIn(job.layout.done(job.id(2)), "\"token\" : \"token\"", "\"token\" : \"second\"");
        assertThat(step("claims").summary()).startsWith("2 of 3 claims seen");
        Path claim = job.layout.speculative().resolve(job.id(2) + ".1.lock");
        Files.createDirectories(claim.getParent());
        Files.copy(job.layout.lock(job.id(2).toString(), 1), claim);
        FinishedJob.replaceIn(claim, "\"token\" : \"token\"", "\"token\" : \"second\"");
        FinishedJob.replaceIn(claim, "\"beside\" : null", "\"beside\" : 1");
        assertThat(step("claims").summary()).startsWith("3 of 3 claims seen");

        FinishedJob.replaceIn(claim, "node-a", "node-x");
        assertThat(step("claims").findings())
                .containsExactly(new Finding(job.id(2), claim.toString(), "expected node node-a, found node-x"));
        FinishedJob.replaceIn(claim, "second", "third");
        assertThat(step("claims").findings())
                .extracting(Finding::problem)
                .containsExactly("no claim there has the token of the result: second");
    }

    @Test
    void a_claim_of_another_node_than_the_results_is_found() throws IOException {
        Path claim = job.layout.lock(job.id(2).toString(), 1);
        FinishedJob.replaceIn(claim, "node-a", "node-x");

        assertThat(onlyFinding("claims"))
                .isEqualTo(new Finding(job.id(2), claim.toString(), "expected node node-a, found node-x"));

        Files.writeString(claim, "{");
        assertThat(onlyFinding("claims").problem()).isEqualTo("expected a claim, found what is not one");

        Files.delete(claim);
        assertThat(verify().ok()).isTrue();
        assertThat(step("claims").summary()).startsWith("2 of 3 claims seen");
    }

    @Test
    void a_verification_can_be_handed_on_as_json() throws IOException {
        assertThat(Json.parse(Json.bytes(verify()), Verification.class)).isEqualTo(verify());
    }

    @Test
    void a_flipped_byte_of_the_input_is_found() throws IOException {
        FinishedJob.replaceIn(job.input, "\"shard\":1", "\"shard\":9");

        assertThat(onlyFinding("inputs").file()).isEqualTo(job.input.toString());
        assertThat(onlyFinding("inputs").problem())
                .startsWith("expected 120 bytes, sha256 ")
                .endsWith("is byte 49, in line 3; the input was changed after the job was prepared");
    }

    @Test
    void a_byte_that_breaks_a_line_of_the_input_is_found_with_its_line() throws IOException {
        FinishedJob.replaceIn(job.input, "{\"shard\":1,\"row\":1}", "{\"shard\":1,\"row\":1]");

        assertThat(onlyFinding("inputs").problem()).contains("; line 4, byte 78 (column 19): ");
    }

    @Test
    void an_input_that_is_gone_is_said_and_may_be_left_out() throws IOException {
        Files.delete(job.input);

        assertThat(verify().steps().get(1))
                .isEqualTo(sound(
                        "inputs",
                        "0 of 1 files, 0 bytes; not there any more, so only its fingerprint in the manifest tells of"
                                + " it: " + job.input,
                        null));
        Verification without = Verifier.verify(job.files, new Verifier.Options(false, 1));
        assertThat(without.ok()).isTrue();
        assertThat(without.steps().get(1)).isEqualTo(sound("inputs", "skipped", null));
    }

    @Test
    void a_flipped_byte_of_a_shard_is_found_in_its_shard() throws IOException {
        FinishedJob.replaceIn(job.shardFile(1), "\"row\":0", "\"row\":8");

        Finding finding = onlyFinding("shards");
        assertThat(finding.shard()).isEqualTo(job.id(1));
        assertThat(finding.file()).isEqualTo(job.shardFile(1).toString());
        assertThat(finding.problem())
                .startsWith("expected 2 rows, 40 bytes, sha256 ")
                .contains(", found 2 rows, 40");
    }

    @Test
    void shards_that_are_right_one_by_one_must_be_right_in_a_row() throws IOException {
        FinishedJob.replaceIn(job.layout.manifest(), "\"normalized_sha256\" : \"", "\"normalized_sha256\" : \"0");

        assertThat(onlyFinding("shards").file()).isEqualTo(job.layout.manifest().toString());
        assertThat(onlyFinding("shards").problem()).startsWith("expected normalized_sha256 0");
    }

    @Test
    void a_manifest_that_does_not_add_up_is_found() throws IOException {
        FinishedJob.replaceIn(job.layout.manifest(), "\"total_rows\" : 6", "\"total_rows\" : 7");
        FinishedJob.replaceIn(job.layout.manifest(), "\"total_size_bytes\" : 120", "\"total_size_bytes\" : 121");
        FinishedJob.replaceIn(job.layout.manifest(), "\"num_shards\" : 3", "\"num_shards\" : 4");
        FinishedJob.replaceIn(job.layout.manifest(), "\"schema_version\" : 2", "\"schema_version\" : 1");

        assertThat(verify().steps().get(0).findings())
                .extracting(Finding::problem)
                .containsExactly(
                        "expected schema_version 2, found 1",
                        "expected num_shards 4, found 3",
                        "expected total_rows 7, found 6",
                        "expected rows of the input files 7, found 6",
                        "expected total_size_bytes 121, found 120");
    }

    @Test
    void shards_in_another_order_are_found() throws IOException {
        String manifest = Files.readString(job.layout.manifest());
        Files.writeString(
                job.layout.manifest(),
                manifest.replace("part-00000", "part-x")
                        .replace("part-00001", "part-00000")
                        .replace("part-x", "part-00001"));

        assertThat(verify().steps().get(0).findings())
                .extracting(Finding::problem)
                .containsExactly(
                        "expected shard 0 to be part-00000-of-00003, found part-00001-of-00003",
                        "expected shard 1 to be part-00001-of-00003, found part-00000-of-00003");
    }

    @Test
    void a_flipped_byte_of_a_result_is_found_in_its_shard() throws IOException {
        FinishedJob.replaceIn(job.result(2), "1", "7");

        Finding finding = onlyFinding("results");
        assertThat(finding.shard()).isEqualTo(job.id(2));
        assertThat(finding.file()).isEqualTo(job.result(2).toString());
        assertThat(finding.problem())
                .isEqualTo("expected 1 rows, 8 bytes, sha256 " + FinishedJob.sha256(THIRD)
                        + ", found 1 rows, 8 bytes, sha256 " + FinishedJob.sha256("{\"c\":7}\n")
                        + "; the first byte that differs from the merged file is byte 5, in line 1");
    }

    @Test
    void a_missing_result_is_found() throws IOException {
        Files.delete(job.result(0));

        assertThat(onlyFinding("results"))
                .isEqualTo(new Finding(job.id(0), job.result(0).toString(), "expected a file, found none"));
    }

    @Test
    void a_done_record_of_another_shard_is_found() throws IOException {
        Files.copy(job.layout.done(job.id(2)), job.layout.done(job.id(1)), StandardCopyOption.REPLACE_EXISTING);

        assertThat(step("results").findings().get(0).problem())
                .isEqualTo("expected shard_id part-00001-of-00003, found part-00002-of-00003");
        assertThat(step("merged").ok()).isFalse();
    }

    @Test
    void a_record_of_less_input_than_the_shard_has_is_found() throws IOException {
        FinishedJob.replaceIn(job.layout.done(job.id(1)), "\"rows_in\" : 2", "\"rows_in\" : 1");

        assertThat(onlyFinding("results").problem()).isEqualTo("expected rows_in 2, found 1");
    }

    @Test
    void shards_that_are_not_done_are_found_with_their_failure() throws IOException {
        Files.delete(job.layout.done(job.id(0)));
        job.fail(1, "exit code 1");
        Files.writeString(job.layout.done(job.id(2)), "{");

        List<Finding> findings = step("results").findings();

        assertThat(findings).hasSize(3);
        assertThat(findings.get(0).problem()).isEqualTo("expected a done record, found none");
        assertThat(findings.get(1).problem())
                .startsWith("expected a done record, found none; the shard failed for good: 4 failing attempts")
                .contains("exit code 1");
        assertThat(findings.get(2).problem()).startsWith("cannot read " + job.layout.done(job.id(2)));
        assertThat(verify().ok()).isFalse();
    }

    @Test
    void a_path_that_leaves_the_job_is_found_and_not_followed() throws IOException {
        FinishedJob.replaceIn(job.layout.done(job.id(2)), "\"attempts/", "\"../attempts/");

        assertThat(onlyFinding("results").problem()).startsWith("Manifest path escapes job directory");
    }

    @Test
    void a_flipped_byte_of_the_merged_file_is_found_with_its_shard_and_place() throws IOException {
        FinishedJob.replaceIn(job.output, "\"c\":1", "\"c\":7");

        Finding finding = onlyFinding("merged");
        assertThat(finding.shard()).isEqualTo(job.id(2));
        assertThat(finding.file()).isEqualTo(job.output.toString());
        assertThat(finding.problem())
                .isEqualTo("in bytes 16 to 24 expected 1 rows, 8 bytes, sha256 " + FinishedJob.sha256(THIRD)
                        + ", found 1 rows, 8 bytes, sha256 " + FinishedJob.sha256("{\"c\":7}\n")
                        + "; the first byte that differs from the result " + job.result(2)
                        + " is byte 21, in line 1 of the result");
    }

    @Test
    void a_merged_file_cut_short_or_grown_is_found() throws IOException {
        Files.writeString(job.output, FIRST);
        assertThat(onlyFinding("merged").shard()).isEqualTo(job.id(2));

        Files.writeString(job.output, FIRST + THIRD + "{}\n");
        assertThat(onlyFinding("merged").shard()).isNull();
        assertThat(onlyFinding("merged").problem())
                .startsWith("expected 3 rows, 24 bytes, sha256 ")
                .contains(", found 4 rows, 27 bytes");

        Files.delete(job.output);
        assertThat(onlyFinding("merged"))
                .isEqualTo(new Finding(null, job.output.toString(), "expected a file, found none"));
    }

    @Test
    void parts_in_another_order_are_found_though_their_sum_is_the_same() throws IOException {
        String merged = THIRD + FIRST;
        Files.writeString(job.output, merged);

        assertThat(step("merged").findings()).extracting(Finding::shard).containsExactly(job.id(0), job.id(2));
    }

    @Test
    void a_merge_record_that_was_made_up_to_fit_a_wrong_file_is_found() throws IOException {
        Files.writeString(job.output, THIRD + FIRST);
        String record = Files.readString(job.layout.mergeRecord());
        Files.writeString(
                job.layout.mergeRecord(),
                record.replace(FinishedJob.sha256(FIRST + THIRD), FinishedJob.sha256(THIRD + FIRST)));

        assertThat(step("merged").findings())
                .extracting(Finding::file)
                .containsExactly(job.layout.mergeRecord().toString(), job.output.toString(), job.output.toString());
        assertThat(step("merged").findings().get(0).problem())
                .startsWith("expected all results to be 3 rows, 24 bytes");
    }

    @Test
    void a_merge_of_other_results_is_found() throws IOException {
        FinishedJob.replaceIn(job.layout.mergeRecord(), "\"node-b\"", "\"node-x\"");

        assertThat(onlyFinding("merged").shard()).isEqualTo(job.id(1));
        assertThat(onlyFinding("merged").problem()).startsWith("expected part Part[id=part-00001-of-00003");
    }

    @Test
    void a_job_that_is_not_merged_is_found() throws IOException {
        Files.delete(job.layout.mergeRecord());

        assertThat(onlyFinding("merged"))
                .isEqualTo(new Finding(
                        null,
                        job.layout.mergeRecord().toString(),
                        "expected the record of a merge, found none; run 'caravan merge'"));
    }

    @Test
    void fewer_hosts_than_expected_are_found() {
        assertThat(Verifier.verify(job.files, new Verifier.Options(true, 2)).ok())
                .isTrue();

        Verification verification = Verifier.verify(job.files, new Verifier.Options(true, 3));
        assertThat(verification.ok()).isFalse();
        assertThat(verification.findings())
                .containsExactly(new Finding(
                        null,
                        job.layout.doneRecords().toString(),
                        "expected results of at least 3 host names, found 2 [host-a, host-b]"));
    }

    @Test
    void shards_that_are_ranges_pass_and_a_flipped_byte_of_the_input_is_found_and_its_shard_named() throws IOException {
        job = FinishedJob.inRanges(Files.createDirectory(folder.resolve("ranges")), FIRST, SECOND, THIRD);
        job.merge();
        String input = FinishedJob.sha256(Files.readString(job.input));
        assertThat(verify().findings()).isEmpty();
        assertThat(step("shards")).isEqualTo(sound("shards", "3 shards in the input, 6 rows, 120 bytes", input));

        byte[] whole = Files.readAllBytes(job.input);
        for (int i = 0; i < whole.length; i++) {
            byte[] flipped = whole.clone();
            flipped[i] ^= 1;
            Files.write(job.input, flipped);

            assertThat(step("inputs").findings())
                    .as("byte %d", i)
                    .singleElement()
                    .satisfies(finding -> {
                        assertThat(finding.file()).isEqualTo(job.input.toString());
                        assertThat(finding.problem()).contains("the input was changed after the job was prepared");
                    });
            Finding finding = step("shards").findings().get(0);
            assertThat(step("shards").problems()).as("byte %d", i).isEqualTo(1);
            assertThat(finding.shard()).as("byte %d", i).isEqualTo(job.id(i / 40));
            assertThat(finding.file()).isEqualTo(job.input.toString());
        }
        Files.write(job.input, whole);
        assertThat(verify().ok()).isTrue();
    }

    @Test
    void every_damage_is_reported_in_one_run_and_long_lists_are_cut() throws IOException {
        String[] results = new String[25];
        Arrays.fill(results, THIRD);
        job = FinishedJob.in(folder.resolve("large"), results);
        job.merge();
        for (int i = 0; i < 25; i++) {
            FinishedJob.replaceIn(job.result(i), "1", "7");
        }
        FinishedJob.replaceIn(job.output, "1", "7");
        FinishedJob.replaceIn(job.shardFile(3), "0", "7");

        assertThat(step("results").problems()).isEqualTo(25);
        assertThat(step("results").findings()).hasSize(20);
        assertThat(step("shards").problems()).isEqualTo(1);
        assertThat(step("merged").problems()).isEqualTo(1);
    }

    @Test
    void a_manifest_that_cannot_be_read_is_found_and_without_one_there_is_nothing_to_verify() throws IOException {
        Files.write(job.layout.manifest(), "{".getBytes(StandardCharsets.UTF_8));

        Finding finding = onlyFinding("manifest");
        assertThat(finding.file()).isEqualTo(job.layout.manifest().toString());
        assertThat(finding.problem()).startsWith("cannot read " + job.layout.manifest());

        Files.delete(job.layout.manifest());
        assertThatThrownBy(this::verify).isInstanceOf(StoreException.class).hasMessageContaining("no manifest.json");
    }

    private Verification verify() {
        return Verifier.verify(job.files, Verifier.Options.ALL);
    }

    private Step step(String name) {
        return verify().steps().stream()
                .filter(step -> step.name().equals(name))
                .findFirst()
                .orElseThrow();
    }

    /** The one finding of the whole verification, which must be of this step. */
    private Finding onlyFinding(String stepName) {
        Verification verification = verify();
        assertThat(verification.ok()).isFalse();
        assertThat(verification.findings()).hasSize(1);
        assertThat(step(stepName).ok()).isFalse();
        return step(stepName).findings().get(0);
    }
}
