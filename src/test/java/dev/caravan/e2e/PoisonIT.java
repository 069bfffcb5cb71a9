package dev.caravan.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.caravan.jsonl.Sha256;
import dev.caravan.shard.DoneRecord;
import dev.caravan.shard.Ledger;
import dev.caravan.shard.ShardId;
import dev.caravan.store.JobFiles;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class PoisonIT {
    private static final ObjectMapper JSON = new ObjectMapper();

    /** Of 40 rows in two shards. */
    private static final String FAILS_ON_ROWS_3_AND_17_AND_30 =
            "if grep -qE '\"id\": (3|17|30),' \"$1\"; then echo 'cannot digest it' >&2; exit 9; fi";

    @RegisterExtension
    final Fleet fleet = new Fleet();

    private Sample sample(String policy) {
        return new Sample(fleet.folder(), "poisoned", 40, 2)
                .written(FAILS_ON_ROWS_3_AND_17_AND_30, "policy: {max_retries: 9, isolate_poison: true" + policy + "}");
    }

    private CaravanProcess run(Sample job) {
        return fleet.run("run", job.descriptor().toString(), "--job-dir", job.jobDir(), "--json");
    }

    @Test
    void guilty_rows_are_set_aside_and_told_and_innocent_ones_complete() throws IOException {
        Sample job = sample("");

        JsonNode merged = run(job).endsWith(0).json();

        List<String> rows = job.expected().lines().toList();
        assertThat(job.inOwnDirectory().mergedByDefault())
                .content()
                .isEqualTo(IntStream.range(0, 40)
                        .filter(row -> row != 3 && row != 17 && row != 30)
                        .mapToObj(row -> rows.get(row) + "\n")
                        .collect(Collectors.joining()));
        assertThat(merged.at("/ledger"))
                .isEqualTo(
                        JSON.readTree("{\"rows_in\":40,\"rows_out\":37,\"filtered\":0,\"expanded\":0,\"failed\":3}"));
        DoneRecord first = new JobFiles(job.inOwnDirectory())
                .done(ShardId.parse(job.shard(0)))
                .orElseThrow();
        assertThat(first.ledger()).isEqualTo(new Ledger(20, 18, 0, 0, 2));
        List<String> failures = Sample.read(
                        job.inOwnDirectory().resolve(first.failures().path()))
                .lines()
                .toList();
        assertThat(failures).hasSize(2);
        JsonNode failure = JSON.readTree(failures.get(1));
        assertThat(failure.at("/line").asInt()).isEqualTo(18);
        assertThat(failure.at("/sha256").asText())
                .isEqualTo(Sha256.hex(rows.get(17).replace("blue", "red").getBytes(StandardCharsets.UTF_8)));
        assertThat(failure.at("/error").asText()).isEqualTo("sh returned exit code 9");

        assertThat(fleet.run("status", "--job-dir", job.jobDir(), "--all")
                        .endsWith(0)
                        .stdout())
                .contains("40 of 40 done, 37 out, 0 filtered, 0 expanded, 3 failed")
                .contains("18 rows out, 2 failed: " + first.failures().path());
        assertThat(fleet.run("verify", "--job-dir", job.jobDir()).endsWith(0).stdout())
                .contains("40 rows in, 37 out, 0 filtered, 0 expanded, 3 failed")
                .endsWith("PASS\n");
        assertThat(fleet.run("doctor", "--job-dir", job.jobDir()).endsWith(0).stdout())
                .as("what halving leaves is nothing to repair")
                .isNotEmpty();
    }

    @Test
    void more_guilty_rows_than_all_nodes_may_set_aside_fail_the_job_for_good() {
        Sample job = sample(", max_failed_records: 2");

        JsonNode status = run(job).endsWith(2).json();

        assertThat(status.at("/failures").size()).isEqualTo(1);
        assertThat(status.at("/failures/0/reason").asText()).contains("policy.max_failed_records: 2");
        assertThat(status.at("/failures/0/attempts").asInt())
                .as("no retry can help")
                .isEqualTo(2);
        assertThat(job.inOwnDirectory().mergedByDefault()).doesNotExist();
    }
}
