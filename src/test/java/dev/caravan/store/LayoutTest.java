package dev.caravan.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.caravan.shard.ShardId;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class LayoutTest {
    private static final ShardId SHARD = new ShardId(3, 16);

    private final Layout.Job job = new Layout.Job(Path.of("/shared/jobs/j1"));

    @ParameterizedTest
    @ValueSource(
            strings = {
                "../other/shards/part-00000-of-00001.jsonl",
                "shards/../../x",
                "/etc/passwd",
                "..",
                "../j1-other/x"
            })
    void a_manifest_path_that_escapes_is_refused(String path) {
        assertThatThrownBy(() -> job.resolve(path))
                .isInstanceOf(StoreException.class)
                .hasMessageContaining("Manifest path escapes job directory: '" + path + "'")
                .hasMessageContaining("/shared/jobs/j1/manifest.json");
    }

    @ParameterizedTest
    @CsvSource({
        "shards/part-00003-of-00016.jsonl, /shared/jobs/j1/shards/part-00003-of-00016.jsonl",
        "shards/../recipe.yaml, /shared/jobs/j1/recipe.yaml",
        "/shared/jobs/j1/recipe.yaml, /shared/jobs/j1/recipe.yaml"
    })
    void a_manifest_path_inside_the_job_is_resolved(String path, Path resolved) {
        assertThat(job.resolve(path)).isEqualTo(resolved);
    }

    @Test
    void a_relative_path_is_resolved_to_where_it_came_from() {
        assertThat(job.relative(job.shard(SHARD))).isEqualTo("shards/part-00003-of-00016.jsonl");
        assertThat(job.resolve(job.relative(job.shard(SHARD)))).isEqualTo(job.shard(SHARD));
    }

    @Test
    void the_facts_of_a_shard_have_the_names_of_the_protocol() {
        assertThat(job.locks()).isEqualTo(Path.of("/shared/jobs/j1/state/locks"));
        assertThat(job.done(SHARD)).isEqualTo(Path.of("/shared/jobs/j1/state/done/part-00003-of-00016.json"));
        assertThat(job.failed(SHARD)).isEqualTo(Path.of("/shared/jobs/j1/state/failed/part-00003-of-00016.json"));
        assertThat(job.attempt(SHARD, 2, "abc").path())
                .isEqualTo(Path.of("/shared/jobs/j1/attempts/part-00003-of-00016/0002-abc"));
    }

    @Test
    void attempts_of_all_epochs_and_tokens_are_apart() {
        assertThat(job.attempt(SHARD, 1, "a")).isNotEqualTo(job.attempt(SHARD, 2, "a"));
        assertThat(job.attempt(SHARD, 1, "a")).isNotEqualTo(job.attempt(SHARD, 1, "b"));
        assertThat(job.history(SHARD, 1)).isNotEqualTo(job.history(SHARD, 2));
    }

    @Test
    void the_coordination_directory_is_a_hidden_sibling_that_tells_its_job() {
        assertThat(job.coordination().getParent()).isEqualTo(job.path().getParent());
        String name = job.coordination().getFileName().toString();
        assertThat(Layout.isHidden(name)).isTrue();
        assertThat(Layout.Job.ofCoordination(name)).isEqualTo("j1");
        assertThat(Layout.Job.ofCoordination("j1")).isNull();
        assertThat(Layout.Job.ofCoordination(".j1.other")).isNull();
    }

    @Test
    void equal_directories_are_equal_jobs_however_they_are_spelt() {
        assertThat(new Layout.Job(Path.of("/shared/./jobs/x/../j1"))).isEqualTo(job);
        assertThat(new Layout.Root(Path.of("/shared/x/..")).job("j1")).isEqualTo(job);
    }
}
