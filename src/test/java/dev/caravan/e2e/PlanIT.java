package dev.caravan.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.caravan.store.JobFiles;
import dev.caravan.store.Json;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A forecast from a sample of the input, which is really worked on. */
class PlanIT {
    private static final int AUTO_FOR_SO_FEW_BYTES = 4;

    @RegisterExtension
    final Fleet fleet = new Fleet();

    private Path emptyScratch() throws IOException {
        Path scratch = Files.createDirectory(fleet.folder().resolve("scratch"));
        fleet.with("exec.scratch", scratch.toString());
        return scratch;
    }

    @Test
    void the_forecast_of_a_job_is_near_to_what_its_program_does() throws IOException {
        Path scratch = emptyScratch();
        Sample job = new Sample(fleet.folder(), "slow", 3_000, 1)
                .written(
                        "sleep $(awk 'END {print NR * 0.02}' \"$1\") | dd if=/dev/zero bs=64M count=1 iflag=fullblock 2>/dev/null"
                                + " | { sleep 0.3; wc -c >&2; }"); // 60 s for all

        CaravanProcess plan = fleet.run("plan", job.descriptor().toString(), "--sample", "3", "--nodes", "2", "--json");

        JsonNode forecast = Json.tree(plan.endsWith(0).stdout().getBytes(StandardCharsets.UTF_8));
        assertThat(forecast.get("shards").asInt()).isEqualTo(16);
        assertThat(forecast.get("seconds").asDouble())
                .as("half a minute on each of two nodes, and what a busy machine adds")
                .isBetween(15.0, 300.0);
        assertThat(forecast.get("fewest_seconds").asDouble())
                .isLessThanOrEqualTo(forecast.get("seconds").asDouble());
        assertThat(forecast.get("most_seconds").asDouble())
                .isGreaterThanOrEqualTo(forecast.get("seconds").asDouble());
        assertThat(forecast.get("units")).hasSize(3);
        assertThat(forecast.at("/costs/memory_bytes").asLong())
                .as("a block of 64 MiB, and the shell around it")
                .isBetween(64L << 20, 200L << 20);
        assertThat(forecast.get("records").asDouble()).isBetween(2_800.0, 3_200.0);
        double results =
                forecast.get("result_bytes").asDouble() / job.expected().getBytes(StandardCharsets.UTF_8).length;
        assertThat(results).isBetween(0.99, 1.01);
        assertThat(job.runs()).as("four of one record, one to warm up, three").hasSize(8);
        assertThat(scratch).isEmptyDirectory();
        assertThat(job.inOwnDirectory().path()).doesNotExist();
    }

    @Test
    void status_shows_a_kept_forecast_beside_what_came() throws IOException {
        emptyScratch();
        Sample job = new Sample(fleet.folder(), "kept", 200, 4).written("sleep $(awk 'END {print NR * 0.01}' \"$1\")");
        String descriptor = job.descriptor().toString();
        CaravanProcess planned = fleet.run("plan", descriptor, "--job-dir", job.jobDir(), "--json");
        JsonNode forecast = Json.tree(planned.endsWith(0).stdout().getBytes(StandardCharsets.UTF_8));

        fleet.run("run", descriptor, "--job-dir", job.jobDir()).endsWith(0);

        CaravanProcess status = fleet.run("status", "--job-dir", job.jobDir(), "--json");
        JsonNode plan = Json.tree(status.endsWith(0).stdout().getBytes(StandardCharsets.UTF_8))
                .get("plan");
        for (String kept : List.of("seconds", "fewest_seconds", "most_seconds", "result_bytes")) {
            assertThat(plan.get(kept)).as(kept).isEqualTo(forecast.get(kept));
        }
        assertThat(plan.get("taken_seconds").asDouble()).isBetween(2.0, 600.0);
        long bytes = job.expected().getBytes(StandardCharsets.UTF_8).length;
        assertThat(plan.get("taken_result_bytes").asLong()).isEqualTo(bytes);
        assertThat(fleet.run("status", "--job-dir", job.jobDir()).endsWith(0).stdout())
                .containsPattern("(?m)^plan    \\d+ s forecast \\(\\d+ to \\d+\\), \\d+ s taken; results of \\d+ bytes"
                        + " forecast, " + bytes + " bytes made$");
    }

    @Test
    void a_job_that_leaves_the_number_of_shards_to_caravan_is_cut_by_a_kept_forecast() throws IOException {
        emptyScratch();
        Sample job = new Sample(fleet.folder(), "cut", 400, 4).written("sleep $(awk 'END {print NR * 0.05}' \"$1\")");
        Files.writeString(
                job.descriptor(), Files.readString(job.descriptor()).replace("num_shards: 4", "num_shards: auto"));
        String descriptor = job.descriptor().toString();
        CaravanProcess planned = fleet.run("plan", descriptor, "--nodes", "6", "--job-dir", job.jobDir(), "--json");
        JsonNode forecast = Json.tree(planned.endsWith(0).stdout().getBytes(StandardCharsets.UTF_8));

        fleet.run("prepare", descriptor, "--job-dir", job.jobDir()).endsWith(0);

        int shards = new JobFiles(job.inOwnDirectory()).manifest().numShards();
        assertThat(shards).isEqualTo(forecast.get("shards").asInt()).isGreaterThan(AUTO_FOR_SO_FEW_BYTES);
    }

    @Test
    void a_job_that_fails_on_the_sample_is_told_and_leaves_nothing() throws IOException {
        Path scratch = emptyScratch();
        Sample job = new Sample(fleet.folder(), "broken", 30, 1).written("exit 3", "policy: {max_retries: 0}");

        CaravanProcess plan = fleet.run("plan", job.descriptor().toString()).endsWith(2);

        assertThat(plan.stderr()).contains("the job fails on a sample of its input", "exit code 3");
        assertThat(plan.stdout()).isEmpty();
        CaravanProcess nothing = fleet.run("plan", job.descriptor().toString(), "--sample", "0");
        assertThat(nothing.endsWith(2).stderr()).contains("--sample must be a whole number of at least 1, not 0");
        assertThat(scratch).isEmptyDirectory();
    }
}
