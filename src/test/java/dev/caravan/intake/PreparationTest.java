package dev.caravan.intake;

import static org.assertj.core.api.Assertions.assertThat;

import dev.caravan.job.DescriptorReader;
import dev.caravan.job.JobDescriptor;
import dev.caravan.shard.Execution;
import dev.caravan.shard.Forecast;
import dev.caravan.shard.Manifest;
import dev.caravan.store.JobFiles;
import dev.caravan.store.Layout;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PreparationTest {
    private static final long MINUTE = 1_000_000;
    private static final byte[] INPUT = "{\"a\":1}\n".repeat(500).getBytes(StandardCharsets.UTF_8);

    private static final Scripts NO_SCRIPTS = new Scripts() {
        @Override
        public void check(Execution execution) {
            throw new AssertionError("no job here has a script");
        }

        @Override
        public long plan(Path request, Runnable check) {
            throw new AssertionError("no job here has a script");
        }

        @Override
        public void collect(Path request) {
            throw new AssertionError("no job here has a script");
        }
    };

    @TempDir
    Path folder;

    private Layout.Job job;

    @BeforeEach
    void input() throws IOException {
        Files.write(folder.resolve("in.jsonl"), INPUT);
        job = new Layout.Job(folder.resolve("jobs/j"));
    }

    private Manifest prepare(String fields, boolean sideEffects) {
        RecipeFacts facts = new RecipeFacts(
                folder.resolve("r.yaml"),
                "process: []\n".getBytes(StandardCharsets.UTF_8),
                Map.of(),
                List.of(),
                List.of(),
                "1.6.1",
                RecipeFacts.Checkpoints.UNKNOWN);
        JobDescriptor asked = DescriptorReader.read(
                ("name: j\ndataset_path: in.jsonl\n" + fields).getBytes(StandardCharsets.UTF_8), "job.yaml", folder);
        return new Preparation(
                        recipe -> new CheckedRecipe(facts, null, 0, sideEffects),
                        NO_SCRIPTS,
                        () -> false,
                        MINUTE,
                        known -> 2,
                        folder)
                .prepare(asked, job, () -> true, Progress.NONE)
                .manifest();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            recipe: r.yaml                                                        | false | true
            recipe: r.yaml                                                        | true  | false
            recipe: r.yaml, policy: {speculate: false}                            | false | false
            recipe: r.yaml, policy: {speculate: true}                             | true  | true
            engine: command, command: [cp, '{input}', '{output}']                 | false | false
            engine: command, command: [cp, '{input}', '{output}'], policy: {speculate: true} | false | true
            """, quoteCharacter = '"')
    void second_attempts_are_made_of_what_may_run_twice_or_where_the_job_asks_for_them(
            String fields, boolean sideEffects, boolean expected) {
        String block = fields.replace(", policy", "\npolicy").replace(", command", "\ncommand") + "\n";

        assertThat(prepare(block, sideEffects).policy().speculate()).isEqualTo(expected);
    }

    @ParameterizedTest
    @CsvSource({"recipe: r.yaml, 100", "recipe: r.yaml\\nray: {num_cpus: 1}, 4"})
    void a_plan_that_was_kept_beside_the_job_counts_if_it_measured_the_same_work(String fields, int shards)
            throws IOException {
        Manifest planned = prepare("recipe: r.yaml\n", false);
        job = new Layout.Job(folder.resolve("jobs/planned"));
        new JobFiles(job)
                .keep(Forecast.of(
                        new Forecast.Job(INPUT.length, false, 1, 1, Forecast.Work.of(planned)),
                        new Forecast.Costs(0, 0, 0),
                        List.of(new Forecast.Unit(50, INPUT.length / 10, 1, 600))));

        assertThat(planned.numShards()).isEqualTo(4);
        assertThat(prepare(fields.replace("\\n", "\n") + "\n", false).numShards())
                .isEqualTo(shards);
    }
}
