package dev.caravan.doctor.repair;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.caravan.TestJob;
import dev.caravan.doctor.repair.Finding.Need;
import dev.caravan.finalize.Merger;
import dev.caravan.jsonl.Sha256;
import dev.caravan.shard.Claim;
import dev.caravan.shard.ClaimStatus;
import dev.caravan.shard.ControlRecord;
import dev.caravan.shard.DoneRecord;
import dev.caravan.shard.FailedRecord;
import dev.caravan.shard.FailureClass;
import dev.caravan.shard.Ledger;
import dev.caravan.shard.MergeRecord;
import dev.caravan.shard.NodeIdentity;
import dev.caravan.shard.ShardForm;
import dev.caravan.shard.Spent;
import dev.caravan.shard.TestClaims;
import dev.caravan.store.Evidence;
import dev.caravan.store.Json;
import dev.caravan.store.Layout;
import dev.caravan.store.LeaseStore;
import dev.caravan.store.StoreException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class JobDoctorTest {
    private static final String RESULT = "{\"row\":0}\n";
    private static final NodeIdentity WHO = new NodeIdentity("doctor", "host", 1);
    private static final Clock CLOCK = Clock.fixed(Instant.parse("2026-10-01T12:00:00Z"), ZoneOffset.UTC);

    @TempDir
    Path folder;

    private TestJob job;
    private Layout.Job layout;
    private int leases;
    private Step whileWatching = () -> {};

    private interface Step {
        void run() throws IOException;
    }

    @BeforeEach
    void prepare() throws IOException {
        job = TestJob.in(folder, 2);
        layout = job.layout;
        Files.createDirectories(layout.history());
    }

    private List<Finding> examine(boolean fix) {
        return new JobDoctor(layout, WHO, CLOCK, () -> {
                    leases++;
                    try {
                        whileWatching.run();
                    } catch (IOException e) {
                        throw new AssertionError(e);
                    }
                })
                .examine(fix);
    }

    /** All files and what is in them. */
    private Map<String, String> everything() throws IOException {
        Map<String, String> all = new TreeMap<>();
        try (Stream<Path> paths = Files.walk(folder)) {
            for (Path path : (Iterable<Path>) paths::iterator) {
                all.put(path.toString(), Files.isDirectory(path) ? "" : Files.readString(path));
            }
        }
        return all;
    }

    /** A dry run finds it and changes nothing; a repair repairs it; after that nothing is found. */
    private void assertRepaired(String path, String found, String outcome) throws IOException {
        Map<String, String> before = everything();
        assertThat(examine(false)).singleElement().satisfies(finding -> {
            assertThat(finding.need()).isEqualTo(Need.FIX);
            assertThat(finding.path()).isEqualTo(path);
            assertThat(finding.found()).contains(found);
            assertThat(finding.outcome()).isNull();
        });
        assertThat(everything()).isEqualTo(before);
        assertThat(examine(true)).singleElement().satisfies(finding -> {
            assertThat(finding.need()).isEqualTo(Need.FIXED);
            assertThat(finding.outcome()).isEqualTo(outcome);
        });
        assertThat(examine(false))
                .filteredOn(finding -> finding.need() != Need.NOTHING)
                .isEmpty();
        assertThat(leases).isEqualTo(2);
    }

    private void assertOnly(Need need, String path, String found, String meaning) throws IOException {
        Map<String, String> before = everything();
        for (boolean fix : new boolean[] {false, true}) {
            assertThat(examine(fix)).singleElement().satisfies(finding -> {
                assertThat(finding.need()).isEqualTo(need);
                assertThat(finding.path()).isEqualTo(path);
                assertThat(finding.found()).contains(found);
                assertThat(finding.meaning()).contains(meaning);
            });
        }
        assertThat(everything()).isEqualTo(before);
    }

    private Claim claim(int shard, long epoch, ClaimStatus end) throws IOException {
        Claim claim = TestClaims.running(job.id(shard).toString(), epoch, "node-a");
        new LeaseStore(layout.locks()).create(claim);
        if (end == ClaimStatus.RUNNING) {
            return claim;
        }
        Claim ended = claim.ended(end, end == ClaimStatus.FAILED ? FailureClass.DATA : null, "because");
        new LeaseStore(layout.locks()).end(ended);
        return ended;
    }

    /** A shard that is done as it should be. */
    private Path finish(int shard) throws IOException {
        Claim claim = claim(shard, 1, ClaimStatus.DONE);
        Layout.Attempt attempt = layout.attempt(job.id(shard), 1, claim.token());
        Files.createDirectories(attempt.path());
        Files.writeString(attempt.record(), record(shard, claim));
        Files.writeString(attempt.processed(), RESULT);
        job.files.publishDone(new DoneRecord(
                job.id(shard),
                claim.node(),
                claim.hostname(),
                7,
                claim.token(),
                1,
                1,
                layout.relative(attempt.processed()),
                "command",
                null,
                Ledger.of(1, 1, 0),
                List.of(),
                null,
                RESULT.length(),
                Sha256.hex(RESULT.getBytes(StandardCharsets.UTF_8)),
                List.of(),
                null,
                false,
                0.1,
                "2026-10-01T11:00:00Z"));
        return attempt.processed();
    }

    private String record(int shard, Claim claim) {
        return "{\"shard_id\":\"" + job.id(shard) + "\",\"epoch\":1,\"speculative\":false,\"token\":\"" + claim.token()
                + "\",\"node\":\"a\",\"hostname\":\"h\",\"pid\":1,\"started_at\":\"x\",\"command\":[],\"gpus\":\"\","
                + "\"status\":\"done\"}";
    }

    private void fail(int shard, long epoch, FailureClass failure) throws IOException {
        job.files.publishFailed(new FailedRecord(
                job.id(shard), "node-a", "h", epoch, failure, "because", 2, "attempts/x", "2026-10-01T11:00:00Z"));
    }

    private Path mergedWith(String content) throws IOException {
        MergeRecord record = new MergeRecord(
                layout.mergedByDefault().toString(),
                1,
                0,
                RESULT.length(),
                Sha256.hex(RESULT.getBytes(StandardCharsets.UTF_8)),
                Ledger.of(1, 1, 0),
                List.of(),
                List.of(),
                List.of(),
                List.of(),
                "00",
                "node-a",
                "2026-10-01T11:00:00Z",
                "00");
        Files.write(layout.mergeRecord(), Json.bytes(record));
        return Files.writeString(layout.mergedByDefault(), content);
    }

    private String moved(String path) throws IOException {
        return Files.readString(layout.repaired(1).resolve(path));
    }

    @Test
    void a_sound_job_has_nothing_and_is_not_watched() throws IOException {
        finish(0);
        claim(1, 1, ClaimStatus.RUNNING);
        Map<String, String> before = everything();

        assertThat(examine(true)).isEmpty();
        assertThat(everything()).isEqualTo(before);
        assertThat(leases).isZero();
    }

    @Test
    void a_sound_job_whose_shards_are_ranges_has_nothing() throws IOException {
        Path input = folder.resolve("input.jsonl");
        ObjectNode manifest = (ObjectNode) Json.tree(Files.readAllBytes(layout.manifest()));
        long offset = 0;
        for (JsonNode shard : manifest.get("shards")) {
            Path file = layout.resolve(shard.get("path").asText());
            Files.write(input, Files.readAllBytes(file), StandardOpenOption.CREATE, StandardOpenOption.APPEND);
            Files.delete(file);
            ((ObjectNode) shard)
                    .putNull("path")
                    .putArray("ranges")
                    .addObject()
                    .put("file", input.toString())
                    .put("offset", offset)
                    .put("length", RESULT.length());
            offset += RESULT.length();
        }
        Files.delete(layout.shards());
        Files.write(layout.manifest(), Json.bytes(manifest));
        assertThat(job.files.manifest().shardForm()).isEqualTo(ShardForm.RANGES);
        finish(0);
        finish(1);
        Map<String, String> before = everything();

        assertThat(examine(true)).isEmpty();
        assertThat(everything()).isEqualTo(before);
    }

    @Test
    void what_is_no_job_is_told() {
        layout = new Layout.Job(folder.resolve("nothing"));
        assertThatThrownBy(() -> examine(false))
                .isInstanceOf(StoreException.class)
                .hasMessageStartingWith("no manifest.json in " + layout.path());
    }

    @Test
    void a_torn_manifest_needs_a_person() throws IOException {
        Files.writeString(layout.manifest(), "{\"schema");
        assertOnly(Need.PERSON, "manifest.json", "torn (8 bytes", "prepare the job again in a new directory");
    }

    @Test
    void foreign_names_in_the_state_move_aside() throws IOException {
        Files.writeString(layout.locks().resolve("notes.txt"), "mine");
        assertRepaired(
                "state/locks/notes.txt",
                "does not belong there (expected <shard>.<epoch>.lock)",
                "moved to state/history/doctor-1/state/locks/notes.txt");
        assertThat(moved("state/locks/notes.txt")).isEqualTo("mine");
        assertThat(moved("repaired.json")).contains("state/locks/notes.txt");
    }

    @Test
    void a_record_of_a_shard_that_the_job_does_not_have_moves_aside() throws IOException {
        Files.writeString(layout.doneRecords().resolve("part-00000-of-00099.json"), "{}");
        assertRepaired(
                "state/done/part-00000-of-00099.json",
                "does not belong there (expected <shard>.json)",
                "moved to state/history/doctor-1/state/done/part-00000-of-00099.json");
    }

    @Test
    void a_foreign_folder_moves_aside_as_a_whole() throws IOException {
        Files.createDirectories(layout.state().resolve("backup/deep"));
        Files.writeString(layout.state().resolve("backup/deep/file"), "x");
        assertRepaired("state/backup", "does not belong there", "moved to state/history/doctor-1/state/backup");
        assertThat(moved("state/backup/deep/file")).isEqualTo("x");
    }

    @Test
    void a_second_repair_has_a_folder_of_its_own() throws IOException {
        Files.createDirectories(layout.repaired(1));
        Files.writeString(layout.state().resolve("x"), "x");

        assertThat(examine(true).get(0).outcome()).isEqualTo("moved to state/history/doctor-2/state/x");
    }

    @Test
    void what_an_nfs_client_keeps_of_removed_files_is_let_be() throws IOException {
        Files.writeString(layout.locks().resolve(".nfs000000000001"), "x");
        assertThat(examine(true)).isEmpty();
    }

    @Test
    void a_torn_claim_is_left_to_the_nodes() throws IOException {
        Files.createFile(layout.locks().resolve(job.id(0) + ".1.lock"));
        assertOnly(
                Need.NOTHING,
                "state/locks/" + job.id(0) + ".1.lock",
                "a torn claim (empty)",
                "nodes take it for running until they have watched it for a whole lease, then take over");
    }

    @Test
    void a_claim_of_another_version_is_left_to_the_nodes() throws IOException {
        Files.writeString(layout.locks().resolve(job.id(0) + ".1.lock"), "{\"version\":9,\"owner\":\"x\"}");
        assertOnly(
                Need.NOTHING,
                "state/locks/" + job.id(0) + ".1.lock",
                "a torn claim (25 bytes that are no record of this version)",
                "nodes take it for running");
    }

    @Test
    void a_torn_claim_under_a_higher_one_harms_nobody() throws IOException {
        Files.createFile(layout.locks().resolve(job.id(0) + ".1.lock"));
        claim(0, 2, ClaimStatus.RUNNING);
        assertOnly(
                Need.NOTHING, "state/locks/" + job.id(0) + ".1.lock", "a torn claim", "a higher epoch has taken over");
    }

    @Test
    void a_claim_under_anothers_name_needs_a_person() throws IOException {
        Files.write(
                layout.locks().resolve(job.id(0) + ".1.lock"),
                Json.bytes(TestClaims.running(job.id(1).toString(), 1, "a")));
        assertOnly(
                Need.PERSON,
                "state/locks/" + job.id(0) + ".1.lock",
                "says that it is the claim of " + job.id(1) + " epoch 1",
                "somebody copied or renamed it");
    }

    @Test
    void a_gap_in_the_epochs_needs_a_person_unless_the_shard_is_done() throws IOException {
        claim(1, 3, ClaimStatus.RUNNING);
        assertOnly(
                Need.PERSON,
                "state/locks/" + job.id(1) + ".3.lock",
                "claims 1 to 2 of the shard are missing",
                "find out what removes files there");
        finish(0);
        Files.move(layout.locks().resolve(job.id(0) + ".1.lock"), layout.locks().resolve(job.id(0) + ".2.lock"));
        Files.delete(layout.locks().resolve(job.id(1) + ".3.lock"));
        assertThat(examine(false)).anySatisfy(finding -> {
            assertThat(finding.need()).isEqualTo(Need.NOTHING);
            assertThat(finding.found()).isEqualTo("claims 1 to 1 of the shard are missing");
        });
    }

    @Test
    void a_torn_done_record_lets_the_shard_be_done_again() throws IOException {
        finish(0);
        Files.writeString(layout.done(job.id(0)), "{\"shard_id\":");
        assertRepaired(
                "state/done/" + job.id(0) + ".json",
                "a torn done record (12 bytes",
                "moved to state/history/doctor-1/state/done/" + job.id(0) + ".json, epoch 2 is given free");
        assertReleased(0, 2);
    }

    private void assertReleased(int shard, long epoch) throws IOException {
        Claim released = new LeaseStore(layout.locks())
                .look(job.id(shard).toString(), epoch)
                .orElseThrow()
                .claim()
                .orElseThrow();
        assertThat(released.status()).isEqualTo(ClaimStatus.RELEASED);
        assertThat(released.spent()).isEqualTo(Spent.NOTHING);
        assertThat(released.reason()).contains("repaired by the doctor");
    }

    @Test
    void a_done_record_without_its_result_lets_the_shard_be_done_again() throws IOException {
        Files.delete(finish(0));
        assertRepaired(
                "state/done/" + job.id(0) + ".json",
                "processed.jsonl is not there",
                "moved to state/history/doctor-1/state/done/" + job.id(0) + ".json, epoch 2 is given free");
        assertReleased(0, 2);
    }

    @Test
    void a_result_of_another_size_or_content_lets_the_shard_be_done_again() throws IOException {
        Files.writeString(finish(0), RESULT + RESULT);
        Files.writeString(finish(1), RESULT.replace('0', '1'));

        List<Finding> findings = examine(true);

        assertThat(findings).hasSize(2).allMatch(finding -> finding.need() == Need.FIXED);
        assertThat(findings.get(0).found()).endsWith("processed.jsonl has 20 bytes, expected 10");
        assertThat(findings.get(1).found())
                .contains("processed.jsonl has sha256 ")
                .contains(", expected ");
        assertReleased(0, 2);
        assertReleased(1, 2);
    }

    @Test
    void a_lost_result_is_no_loss_where_the_merged_output_is_whole() throws IOException {
        Files.delete(finish(0));
        mergedWith(RESULT);
        assertOnly(
                Need.NOTHING,
                "state/done/" + job.id(0) + ".json",
                "is not there",
                "the merged output is there: not needed");
    }

    @Test
    void a_lost_result_counts_where_the_merged_output_was_changed() throws IOException {
        Files.delete(finish(0));
        mergedWith(RESULT.replace('0', '1'));
        assertThat(examine(false)).anyMatch(finding -> finding.need() == Need.FIX);
    }

    @Test
    void a_claim_that_ended_done_without_a_record_is_given_free() throws IOException {
        finish(0);
        Files.delete(layout.done(job.id(0)));
        List<Finding> findings = examine(true);

        assertThat(findings).extracting(Finding::need).containsExactlyInAnyOrder(Need.FIXED, Need.NOTHING);
        assertThat(findings).anySatisfy(finding -> {
            assertThat(finding.found()).isEqualTo("ended done, but there is no done record");
            assertThat(finding.outcome()).isEqualTo("epoch 2 is given free");
        });
        assertThat(findings)
                .anySatisfy(finding -> assertThat(finding.found()).isEqualTo("a result that no done record names"));
        assertReleased(0, 2);
    }

    @Test
    void a_done_record_that_is_seen_late_is_no_lost_one() throws IOException {
        finish(0);
        Path record = layout.done(job.id(0));
        Path late = Files.move(record, folder.resolve("late"));
        whileWatching = () -> Files.move(late, record);

        assertThat(examine(true)).isEmpty();
        assertThat(layout.locks().resolve(job.id(0) + ".2.lock")).doesNotExist();
    }

    @Test
    void done_outranks_failed() throws IOException {
        finish(0);
        fail(0, 1, FailureClass.DATA);
        assertRepaired(
                "state/failed/" + job.id(0) + ".json",
                "the shard is done and has failed for good",
                "moved to state/history/doctor-1/state/failed/" + job.id(0) + ".json");
        assertThat(job.files.done(job.id(0))).isPresent();
    }

    @Test
    void a_torn_failure_moves_aside() throws IOException {
        claim(0, 1, ClaimStatus.FAILED);
        Files.createFile(layout.failed(job.id(0)));
        assertRepaired(
                "state/failed/" + job.id(0) + ".json",
                "a torn record of a terminal failure (empty)",
                "moved to state/history/doctor-1/state/failed/" + job.id(0) + ".json");
    }

    @Test
    void a_failure_with_budget_left_needs_a_person() throws IOException {
        claim(0, 1, ClaimStatus.FAILED);
        fail(0, 1, FailureClass.DATA);
        assertOnly(
                Need.PERSON,
                "state/failed/" + job.id(0) + ".json",
                "failed for good (data), but the manifest allows 1 retries and its claims spent less",
                "caravan retry --shard-id " + job.id(0));
    }

    @Test
    void a_failure_with_its_budget_used_up_is_as_it_should_be() throws IOException {
        claim(0, 1, ClaimStatus.FAILED);
        Claim second = TestClaims.running(job.id(0).toString(), 2, "a", new Spent(1, 0, 0, 0), List.of("a"));
        new LeaseStore(layout.locks()).create(second);
        new LeaseStore(layout.locks()).end(second.ended(ClaimStatus.FAILED, FailureClass.DATA, "because"));
        fail(0, 2, FailureClass.DATA);

        assertThat(examine(false)).isEmpty();
    }

    @Test
    void a_failure_that_nobody_claimed_needs_a_person() throws IOException {
        fail(0, 1, FailureClass.DATA);
        assertOnly(
                Need.PERSON,
                "state/failed/" + job.id(0) + ".json",
                "nobody has ever claimed it",
                "claims were removed");
    }

    @Test
    void an_empty_attempt_moves_aside_once_its_claim_is_over() throws IOException {
        Claim claim = claim(0, 1, ClaimStatus.RUNNING);
        Layout.Attempt attempt = layout.attempt(job.id(0), 1, claim.token());
        Files.createDirectories(attempt.work());
        String path = layout.relative(attempt.path());
        assertOnly(Need.NOTHING, path, "an attempt without attempt.json", "it starts just now, or its node died");

        claim(0, 2, ClaimStatus.RUNNING);
        assertRepaired(path, "an attempt without attempt.json", "moved to state/history/doctor-1/" + path);
    }

    @Test
    void an_attempt_with_files_but_without_a_claim_needs_a_person() throws IOException {
        Path attempt = Files.createDirectories(layout.attempts(job.id(0)).resolve("0001-unknown"));
        Files.writeString(attempt.resolve("process.log"), "x");
        assertOnly(
                Need.PERSON,
                layout.relative(attempt),
                "an attempt without attempt.json, and no claim knows it",
                "look whose files these are");
    }

    @Test
    void a_torn_attempt_json_is_for_people_only() throws IOException {
        Path result = finish(0);
        Files.createFile(result.resolveSibling("x")); // other files are the engine's
        Files.writeString(result.resolveSibling("attempt.json"), "");
        assertOnly(
                Need.NOTHING,
                layout.relative(result.resolveSibling("attempt.json")),
                "torn (empty)",
                "for people only");
    }

    @Test
    void unfinished_files_and_stages_are_deleted_if_nobody_writes_them() throws IOException {
        List<Path> unfinished = List.of(
                layout.locks().resolve(".tmp-1"),
                layout.path().resolve(".tmp-2"),
                layout.path().resolve(".tmp-check-3"),
                layout.mergedByDefault().resolveSibling(".caravan-" + Merger.maker(job.files) + "-4"));
        for (Path file : unfinished) {
            Files.writeString(file, "half");
        }
        Path stage = layout.stage("5");
        Files.createDirectories(stage.resolve("shards"));
        Files.writeString(stage.resolve("shards/part"), "half");
        Path othersStage = new Layout.Job(folder.resolve("other")).stage("6");
        Files.createDirectories(othersStage);

        assertThat(examine(false)).hasSize(5).allMatch(finding -> finding.need() == Need.FIX);
        assertThat(examine(true))
                .hasSize(5)
                .allMatch(finding -> "deleted".equals(finding.outcome()) && finding.need() == Need.FIXED);
        assertThat(unfinished).noneMatch(Files::exists);
        assertThat(stage).doesNotExist();
        assertThat(othersStage).exists();
        assertThat(layout.history()).isEmptyDirectory();
    }

    @Test
    void what_somebody_writes_to_while_it_is_watched_is_alive() throws IOException {
        Path temporary = Files.writeString(layout.locks().resolve(".tmp-1"), "half");
        Path stage = layout.stage("5");
        Files.createDirectories(stage);
        whileWatching = () -> {
            Files.writeString(temporary, "half and more");
            Files.writeString(stage.resolve("next"), "x");
        };
        assertThat(examine(true)).isEmpty();
        assertThat(temporary).exists();
        assertThat(stage).exists();
    }

    @Test
    void what_comes_while_others_are_watched_waits_for_the_next_time() throws IOException {
        Files.writeString(layout.state().resolve("x"), "x");
        whileWatching = () -> Files.writeString(layout.state().resolve("y"), "y");

        assertThat(examine(true)).singleElement().extracting(Finding::path).isEqualTo("state/x");
        assertThat(layout.state().resolve("y")).exists();
    }

    @Test
    void a_claim_that_comes_at_the_last_moment_is_respected() throws IOException {
        finish(0);
        Path result = layout.attempts(job.id(0)).resolve("0001-token/processed.jsonl");
        Files.delete(Files.exists(result) ? result : onlyResult());
        whileWatching = () -> claim(0, 2, ClaimStatus.RUNNING);

        assertThat(examine(true)).noneMatch(finding -> finding.need() == Need.FIXED);
        assertThat(layout.done(job.id(0))).exists();
    }

    private Path onlyResult() throws IOException {
        try (Stream<Path> all = Files.walk(layout.attempts())) {
            return all.filter(path -> path.endsWith("processed.jsonl"))
                    .findFirst()
                    .orElseThrow();
        }
    }

    @Test
    void a_torn_merge_record_moves_aside() throws IOException {
        Files.writeString(layout.mergeRecord(), "{");
        assertRepaired("merge.json", "torn (1 bytes", "moved to state/history/doctor-1/merge.json");
    }

    @Test
    void a_merge_record_without_its_output_needs_a_person() throws IOException {
        Files.delete(mergedWith(RESULT));
        assertOnly(Need.PERSON, "merge.json", "is not there", "caravan merge --job-dir " + layout.path());
        mergedWith(RESULT + RESULT);
        assertOnly(Need.PERSON, "merge.json", "is of 20 bytes", "--overwrite if another file is there");
    }

    @Test
    void a_torn_result_of_a_role_needs_a_person() throws IOException {
        Path result = layout.generation("g").prepareResult();
        Files.createDirectories(result.getParent());
        Files.createFile(result);
        assertOnly(Need.PERSON, result.toString(), "torn (empty)", "--run-id");
    }

    @Test
    void evidence_of_a_folder_that_vanishes_is_no_error() throws IOException {
        assertThat(Evidence.of(folder.resolve("gone"))).isEqualTo("changing");
    }

    /** Of a second attempt beside the first epoch of the shard. */
    private Claim second(int shard, ClaimStatus end) throws IOException {
        Claim first = TestClaims.running(job.id(shard).toString(), 1, "node-b");
        Claim running = new Claim(
                first.key(),
                1,
                "second",
                "node-b",
                "host-b",
                8,
                first.claimedAt(),
                ClaimStatus.RUNNING,
                null,
                null,
                null,
                first.spent(),
                first.failedOn(),
                null,
                1L);
        Files.createDirectories(layout.speculative());
        job.files.speculative().create(running);
        Claim claim = end == ClaimStatus.RUNNING ? running : running.ended(end, null, "because");
        job.files.speculative().end(claim);
        return claim;
    }

    @Test
    void second_attempts_are_known() throws IOException {
        finish(0);
        Claim lost = second(0, ClaimStatus.SUPERSEDED);
        Layout.Attempt attempt = layout.speculativeAttempt(job.id(0), 1, lost.token());
        Files.createDirectories(attempt.path());
        Files.writeString(attempt.record(), record(0, lost));
        claim(1, 1, ClaimStatus.RUNNING);
        second(1, ClaimStatus.RUNNING);

        assertThat(examine(true)).isEmpty();
    }

    @Test
    void a_second_attempt_without_a_record_is_judged_by_its_own_claim() throws IOException {
        claim(1, 1, ClaimStatus.RUNNING);
        Claim running = second(1, ClaimStatus.RUNNING);
        Path folder = layout.speculativeAttempt(job.id(1), 1, running.token()).path();
        Files.createDirectories(folder);
        Files.writeString(folder.resolve("process.log"), "x");
        assertOnly(Need.NOTHING, layout.relative(folder), "without attempt.json", "its claim decides");

        job.files.speculative().end(running.ended(ClaimStatus.PREEMPTED, null, "left"));
        assertOnly(Need.NOTHING, layout.relative(folder), "without attempt.json", "its node died as it started");
    }

    @Test
    void a_torn_claim_of_a_second_attempt_does_no_harm() throws IOException {
        finish(0);
        second(0, ClaimStatus.SUPERSEDED);
        Path lock = layout.speculative().resolve(job.id(0) + ".1.lock");
        Files.writeString(lock, "{");

        assertOnly(Need.NOTHING, layout.relative(lock), "a torn claim of a second attempt", "stands beside");
    }

    @Test
    void a_paused_job_has_nothing_foreign() throws IOException {
        job.files.pause(new ControlRecord("me", "h", "now"));

        assertThat(examine(true)).isEmpty();
    }
}
