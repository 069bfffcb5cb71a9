package dev.caravan.exec;

import static org.assertj.core.api.Assertions.assertThat;

import dev.caravan.FakeNanos;
import dev.caravan.TestJob;
import dev.caravan.claim.ShardClaims;
import dev.caravan.lease.ClaimedShard;
import dev.caravan.lease.Heart;
import dev.caravan.lease.RetryPace;
import dev.caravan.shard.GpuDemand;
import dev.caravan.shard.NodeIdentity;
import dev.caravan.shard.Timing;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CommandDriverTest {
    @TempDir
    Path folder;

    private final Heart heart = new Heart(
            new Timing(Duration.ofSeconds(45), Duration.ofSeconds(10), Duration.ofSeconds(10)),
            new FakeNanos(),
            Clock.systemUTC());

    @AfterEach
    void close() {
        heart.close();
    }

    private EngineDriver.Start start(ClaimedShard shard) throws Exception {
        return start(shard, Map.of());
    }

    private EngineDriver.Start start(ClaimedShard shard, Map<String, String> surroundings) throws Exception {
        return new CommandDriver(surroundings)
                .start(
                        Trial.ofWhole(
                                shard, shard.job().layout().shard(shard.shard().id())),
                        new Gpus(List.of("3")).take(new GpuDemand(1)).orElseThrow());
    }

    private ClaimedShard claim(TestJob job) throws Exception {
        return new ShardClaims(
                        job.files,
                        job.manifest,
                        heart,
                        new NodeIdentity("me", "h", 1),
                        new RetryPace(Duration.ZERO, Duration.ZERO, Duration.ZERO))
                .claimNext()
                .orElseThrow();
    }

    @Test
    void placeholders_are_replaced_wherever_they_stand() throws Exception {
        TestJob job = TestJob.in(
                folder,
                1,
                "tool",
                "--in={input}",
                "{output}",
                "{shard}/{shard}",
                "{attempt_dir}/work",
                "{unknown}",
                "{}",
                "$1\\");
        ClaimedShard shard = claim(job);
        EngineDriver.Start start = start(shard);

        assertThat(start.command())
                .containsExactly(
                        "tool",
                        "--in=" + job.layout.shard(job.id(0)),
                        shard.attempt().commandOutput().toString(),
                        job.id(0) + "/" + job.id(0),
                        shard.attempt().path() + "/work",
                        "{unknown}",
                        "{}",
                        "$1\\");
        assertThat(start.environment()).containsEntry("CUDA_VISIBLE_DEVICES", "3");
        assertThat(start.cleared()).isEmpty();
    }

    @Test
    @DisplayName("D07 caches lie in the job directory, but for those that the surroundings name")
    void caches() throws Exception {
        TestJob job = TestJob.in(folder, 1, "tool", "{input}", "{output}");
        ClaimedShard shard = claim(job);

        assertThat(start(shard).environment())
                .containsEntry("XDG_CACHE_HOME", job.layout.cache().toString())
                .containsEntry(
                        "HF_HOME", job.layout.cache().resolve("huggingface").toString());
        assertThat(start(shard, Map.of("HF_HOME", "/models", "HOME", "/h")).environment())
                .containsOnlyKeys("CUDA_VISIBLE_DEVICES", "XDG_CACHE_HOME");
    }

    @Test
    void a_path_that_holds_a_placeholder_stays_as_it_is() throws Exception {
        TestJob job = TestJob.in(folder.resolve("{shard}{output}{input}"), 1, "tool", "{input}", "{output}");
        ClaimedShard shard = claim(job);

        assertThat(start(shard).command())
                .containsExactly(
                        "tool",
                        job.layout.shard(job.id(0)).toString(),
                        shard.attempt().commandOutput().toString());
    }
}
