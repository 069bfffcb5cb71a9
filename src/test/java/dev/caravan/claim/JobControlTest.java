package dev.caravan.claim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.caravan.TestJob;
import dev.caravan.shard.Ledger;
import dev.caravan.shard.NodeIdentity;
import dev.caravan.status.JobStatus;
import dev.caravan.status.StatusReader;
import dev.caravan.store.JobFiles;
import dev.caravan.store.Json;
import dev.caravan.store.Layout;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class JobControlTest {
    private static final NodeIdentity ME = new NodeIdentity("me", "here", 1);

    @TempDir
    Path folder;

    private TestJob job;
    private JobControl control;

    @BeforeEach
    void job() throws IOException {
        job = TestJob.in(folder, 2);
        control = new JobControl(job.files, ME, Clock.fixed(Instant.parse("2026-10-01T10:00:00Z"), ZoneOffset.UTC));
    }

    private JobStatus.State state() throws IOException {
        return new StatusReader(job.layout, Duration.ofSeconds(45)).read().state();
    }

    @Test
    void a_job_is_paused_and_resumed_as_often_as_one_likes() throws IOException {
        control.pause();
        control.pause();
        assertThat(state()).isEqualTo(JobStatus.State.PAUSED);

        control.resume();
        control.resume();
        assertThat(state()).isEqualTo(JobStatus.State.RUNNING);
    }

    @Test
    void a_cancelled_job_says_by_whom_and_stays_cancelled() throws IOException {
        control.pause();
        control.cancel();
        control.cancel();

        assertThat(state()).isEqualTo(JobStatus.State.CANCELLED);
        assertThat(job.files.cancelled().orElseThrow().by()).isEqualTo("me");
        assertThatThrownBy(control::resume).hasMessageContaining("cannot be resumed: it was cancelled, for good");
        assertThatThrownBy(control::pause).hasMessageContaining("cannot be paused: it was cancelled");
        assertThatThrownBy(() -> new Requeue(job.files, ME).requeue(List.of(job.id(0))))
                .hasMessageContaining("was cancelled");
        assertThat(state()).isEqualTo(JobStatus.State.CANCELLED);
    }

    @Test
    void a_job_that_is_done_is_not_controlled_any_more() throws IOException {
        Files.writeString(
                job.layout.mergeRecord(),
                "{\"output\":\"o\",\"rows\":1,\"quarantined\":0,\"size_bytes\":1,\"sha256\":\"s\",\"ledger\":"
                        + Json.line(Ledger.of(1, 1, 0))
                        + ",\"operators\":[],\"shards\":[],\"nodes\":[],\"warnings\":[],"
                        + "\"manifest_sha256\":\"m\",\"merged_by\":\"n\",\"merged_at\":\"t\",\"seal\":\"x\"}");

        assertThatThrownBy(control::pause).hasMessageContaining("cannot be paused: it is done");
        assertThatThrownBy(control::cancel).hasMessageContaining("cannot be cancelled: it is done");
        assertThat(state()).isEqualTo(JobStatus.State.DONE);
        assertThat(job.layout.cancelled()).doesNotExist();
    }

    @Test
    void a_directory_without_a_job_is_refused() {
        JobFiles none = new JobFiles(new Layout.Job(folder.resolve("none")));

        assertThatThrownBy(() -> new JobControl(none, ME, Clock.systemUTC()).cancel())
                .hasMessageContaining("no manifest.json");
        assertThat(folder.resolve("none")).doesNotExist();
    }
}
