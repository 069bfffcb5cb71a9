package dev.caravan.intake;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.caravan.shard.Engine;
import dev.caravan.shard.Execution;
import dev.caravan.shard.Policy;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PrepareAgainTest {
    @TempDir
    Path folder;

    private Scene scene;
    private Path a;
    private Path b;

    @BeforeEach
    void a_prepared_job() throws IOException {
        scene = new Scene(folder.toRealPath());
        a = scene.write("a.jsonl", "{\"i\":0}\n{\"i\":1}\n");
        b = scene.write("b.jsonl", "{\"i\":2}\n");
        scene.shards = 2;
        scene.recipe("process: []\n", Map.of(), List.of());
        scene.prepare();
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 0})
    void the_same_request_changes_nothing_and_auto_is_any_number(int shards) throws IOException {
        if (shards == 0) {
            scene = new Scene(scene.root.resolve("auto"));
            scene.write("a.jsonl", "{}\n{}\n{}\n{}\n{}\n");
            scene.prepare();
            scene.slots = 5;
        }
        byte[] before = Files.readAllBytes(scene.job.manifest());

        Prepared again = scene.prepare();

        assertThat(again).isInstanceOf(Prepared.Unchanged.class);
        assertThat(Files.readAllBytes(scene.job.manifest())).isEqualTo(before);
        assertThat(scene.besideJob()).containsExactly("j1");
    }

    @Test
    void each_field_of_another_request_is_named() throws IOException {
        Path other = Files.createDirectory(scene.root.resolve("other"));
        scene.dataset = Files.copy(a, other.resolve("a.jsonl"));
        scene.shards = 1;
        scene.execution = new Execution(Engine.COMMAND, List.of("tac"), Execution.Ray.DEFAULT);
        scene.policy = new Policy(1, 1, 1, 1, Duration.ZERO, Duration.ofMinutes(5));
        scene.output = scene.root.resolve("elsewhere.jsonl");
        scene.recipe("process: [x]\n", Map.of(), List.of());

        assertThatThrownBy(scene::prepare)
                .isInstanceOf(IntakeException.class)
                .hasMessageContaining(scene.job.path() + " already exists and does not match this request: ")
                .hasMessageContaining("dataset_path was " + scene.input + ", asked for is " + scene.dataset)
                .hasMessageContaining("num_shards was 2, asked for is 1")
                .hasMessageContaining("recipe sha256 was " + PrepareTest.sha256("process: []\n"))
                .hasMessageContaining("execution was ")
                .hasMessageContaining("policy was ")
                .hasMessageContaining("output was " + scene.root.resolve("out.jsonl"))
                .hasMessageContaining("input files: " + a + " (gone), " + b + " (gone), " + scene.dataset + " (new)")
                .hasMessageEndingWith("Choose a new --job-dir, or repeat the request it was prepared with");
    }

    @Test
    void one_different_field_is_enough() throws IOException {
        scene.policy = new Policy(4, 10, 1, 3, Duration.ZERO, Duration.ZERO);

        assertThatThrownBy(scene::prepare).hasMessageContaining("this request: policy was Policy[maxRetries=3");
    }

    @Test
    void input_of_other_content_is_another_request_even_with_size_and_time_as_before() throws IOException {
        FileTime time = Files.getLastModifiedTime(a);
        Files.writeString(a, "{\"i\":0}\n{\"i\":9}\n");
        Files.setLastModifiedTime(a, time);

        assertThatThrownBy(scene::prepare)
                .hasMessageContaining("this request: input files: " + a + " (content (sha256) changed). Choose");
    }

    @Test
    void input_with_an_older_time_is_another_request() throws IOException {
        Files.setLastModifiedTime(a, FileTime.from(Instant.parse("2020-01-01T00:00:00Z")));

        assertThatThrownBy(scene::prepare)
                .hasMessageContaining("this request: input files: " + a + " (modification time was ");
    }

    @Test
    void input_that_grew_or_became_more_is_another_request() throws IOException {
        Files.writeString(b, "{\"i\":2}\n{\"i\":3}\n");
        Path added = scene.write("c.jsonl", "");

        assertThatThrownBy(scene::prepare)
                .hasMessageContaining("input files: " + b + " (size was 8, is 16), " + added + " (new)");
    }

    @Test
    void a_directory_that_is_no_job_is_refused_and_kept() throws IOException {
        Files.delete(scene.job.manifest());

        assertThatThrownBy(scene::prepare)
                .isInstanceOf(IntakeException.class)
                .hasMessageContaining(scene.job.path() + " exists but holds no manifest.json");
        assertThat(scene.job.recipe()).exists();
    }

    @Test
    void a_stage_of_somebody_else_is_neither_used_nor_touched() throws IOException {
        Scene fresh = new Scene(scene.root.resolve("fresh"));
        fresh.write("a.jsonl", "{}\n");
        Path foreign = Files.createDirectories(fresh.job.stage("foreign"));
        Files.writeString(foreign.resolve("manifest.json"), "half");

        assertThat(fresh.prepare()).isInstanceOf(Prepared.Made.class);

        assertThat(fresh.besideJob()).containsExactly(".j1.preparing.foreign", "j1");
        assertThat(foreign.resolve("manifest.json")).hasContent("half");
    }

    @Test
    void who_loses_the_race_for_the_name_takes_the_same_job_of_the_winner_as_unchanged() throws IOException {
        Scene race = new Scene(scene.root.resolve("race"));
        race.write("a.jsonl", "{}\n{}\n");

        Prepared loser = prepareWhileAnotherWins(race, race.request());

        assertThat(loser).isInstanceOf(Prepared.Unchanged.class);
        assertThat(race.besideJob()).containsExactly("j1");
    }

    @Test
    void who_loses_the_race_against_another_request_is_told() throws IOException {
        Scene race = new Scene(scene.root.resolve("race"));
        race.write("a.jsonl", "{}\n{}\n");
        race.shards = 2;
        PrepareRequest mine = race.request();
        race.shards = 1;

        assertThatThrownBy(() -> prepareWhileAnotherWins(race, mine))
                .hasMessageContaining("this request: num_shards was 1, asked for is 2");
        assertThat(race.besideJob()).containsExactly("j1");
    }

    /** The other preparer does all its work at the last moment: when this one's stage is complete. */
    private static Prepared prepareWhileAnotherWins(Scene race, PrepareRequest mine) {
        boolean[] won = {false};
        BooleanSupplier stillOwner = () -> {
            if (!won[0] && hasCompleteStage(race)) {
                won[0] = true;
                race.prepare();
            }
            return true;
        };
        return new Prepare(Clock.systemUTC(), stillOwner, Progress.NONE).run(mine);
    }

    private static boolean hasCompleteStage(Scene scene) {
        Path folder = scene.job.path().getParent();
        return scene.besideJob().stream()
                .anyMatch(name -> Files.exists(folder.resolve(name).resolve("manifest.json")));
    }
}
