package dev.caravan.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.caravan.shard.ShardId;
import dev.caravan.store.JobFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class HandIT {
    @RegisterExtension
    final Fleet fleet = new Fleet();

    @Test
    void a_job_is_prepared_worked_on_merged_and_verified_step_by_step() throws IOException {
        Sample job = new Sample(fleet.folder(), "steps", 40, 4).written("");
        String descriptor = job.descriptor().toString();
        String dir = job.jobDir();
        assertThat(fleet.run("worker", "--job-dir", dir).endsWith(2).stderr()).contains("not a prepared job");

        JsonNode manifest = fleet.run("prepare", descriptor, "--job-dir", dir, "--json")
                .endsWith(0)
                .json();
        assertThat(manifest.at("/num_shards").asInt()).isEqualTo(4);
        assertThat(manifest.at("/total_rows").asInt()).isEqualTo(40);
        assertThat(manifest.at("/shards/3/id").asText()).isEqualTo("part-00003-of-00004");
        assertThat(fleet.run("prepare", descriptor, "--job-dir", dir)
                        .endsWith(0)
                        .stdout())
                .contains("already prepared and unchanged");

        fleet.run("worker", "--job-dir", dir, "--max-shards", "3").endsWith(0);
        assertThat(job.runs()).hasSize(3);
        assertThat(fleet.run("status", "--job-dir", dir).endsWith(1).stdout())
                .contains("state   running", "4: 1 pending, 0 running, 0 stale, 3 done");
        assertThat(fleet.run("merge", "--job-dir", dir).endsWith(2).stderr())
                .contains("expected 4 done shards, found 3");
        fleet.run("worker", "--job-dir", dir).endsWith(0);
        assertThat(job.runs()).hasSize(4);
        assertThat(fleet.run("status", "--job-dir", dir, "--all").endsWith(1).stdout())
                .contains("state   finalizing", "part-00000-of-00004  done");

        Path output = fleet.folder().resolve("out").resolve("all.jsonl");
        String[] merge = {"merge", "--job-dir", dir, "--output", output.toString(), "--json"};
        JsonNode merged = fleet.run(merge).endsWith(0).json();
        assertThat(merged.at("/output").asText()).isEqualTo(output.toString());
        assertThat(output).content().isEqualTo(job.expected());
        fleet.run("status", "--job-dir", dir).endsWith(0);
        assertThat(fleet.run(merge).endsWith(0).json()).as("merged again").isEqualTo(merged);
        Files.delete(job.inOwnDirectory().mergeRecord());
        assertThat(fleet.run(merge).endsWith(0).json().at("/sha256"))
                .as("found without a record")
                .isEqualTo(merged.at("/sha256"));
        fleet.run("verify", "--job-dir", dir, "--expect-nodes", "1").endsWith(0);

        flipByte(output, 30);
        assertThat(fleet.run(merge).endsWith(2).stderr()).contains("is not this job's result", "--overwrite");
        assertThat(fleet.run("verify", "--job-dir", dir).endsWith(2).stdout())
                .contains("part-00000-of-00004", output.toString(), "FAIL");
        fleet.run("merge", "--job-dir", dir, "--output", output.toString(), "--overwrite")
                .endsWith(0);
        assertThat(output).content().isEqualTo(job.expected());

        ShardId third = ShardId.parse(job.shard(2));
        Path result = job.inOwnDirectory()
                .resolve(new JobFiles(job.inOwnDirectory())
                        .done(third)
                        .orElseThrow()
                        .outputPath());
        flipByte(result, 30);
        CaravanProcess verify = fleet.run("verify", "--job-dir", dir, "--json").endsWith(2);
        assertThat(verify.json().at("/ok").asBoolean(true)).isFalse();
        assertThat(verify.stdout()).contains(third.toString(), result.toString());
        assertThat(fleet.run("verify", "--job-dir", dir, "--expect-nodes", "2")
                        .endsWith(2)
                        .stdout())
                .contains("at least 2 host names");
    }

    private static void flipByte(Path file, int at) throws IOException {
        byte[] content = Files.readAllBytes(file);
        content[at] ^= 1;
        Files.write(file, content);
    }
}
