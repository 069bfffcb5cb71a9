package dev.caravan.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.caravan.CaravanException;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.Map;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;

class ComputeRunTest {
    private static final Clock CLOCK = Clock.fixed(Instant.parse("2026-01-31T18:00:00Z"), ZoneOffset.UTC);

    private static ComputeRun of(Map<String, String> environment) {
        return ComputeRun.of(null, environment, true, CLOCK);
    }

    @Test
    void without_a_launcher_a_run_is_alone_and_new() {
        ComputeRun run = of(Map.of());

        assertThat(run.alone()).isTrue();
        assertThat(run.first()).isTrue();
        assertThat(run.localProcesses()).isEmpty();
        assertThat(run.id()).startsWith("run-20260131-180000-");
        assertThat(ComputeRun.of("mine", Map.of(), false, CLOCK).id()).isEqualTo("mine");
    }

    @Test
    void torchrun_on_one_host_is_alone_with_a_worker_for_each_process() {
        ComputeRun run =
                of(Map.of("WORLD_SIZE", "8", "LOCAL_WORLD_SIZE", "8", "RANK", "0", "TORCHELASTIC_RUN_ID", "x"));

        assertThat(run.alone()).isTrue();
        assertThat(run.localProcesses()).isEqualTo(OptionalInt.of(8));
    }

    @Test
    void several_hosts_share_the_run_that_the_launcher_names_and_the_first_prints() {
        ComputeRun run =
                of(Map.of("WORLD_SIZE", "16", "LOCAL_WORLD_SIZE", "8", "RANK", "8", "TORCHELASTIC_RUN_ID", "a/b"));

        assertThat(run).isEqualTo(new ComputeRun("run-a-b", false, false, OptionalInt.of(8)));
        assertThat(of(Map.of("OMPI_COMM_WORLD_SIZE", "4", "OMPI_COMM_WORLD_LOCAL_SIZE", "2", "PAI_JOB_ID", "dlc1"))
                        .id())
                .isEqualTo("run-dlc1");
        assertThat(of(Map.of("SLURM_NNODES", "2", "SLURM_LOCALID", "0", "SLURM_PROCID", "1", "SLURM_JOB_ID", "77")))
                .isEqualTo(new ComputeRun("run-77", false, false, OptionalInt.empty()));
    }

    @Test
    void several_hosts_need_a_sink_and_something_that_tells_the_run() {
        Map<String, String> two = Map.of("WORLD_SIZE", "2", "LOCAL_WORLD_SIZE", "1", "TORCHELASTIC_RUN_ID", "none");

        assertThatThrownBy(() -> of(two))
                .isInstanceOf(CaravanException.class)
                .hasMessageContaining("--job-id ID, or torchrun an --rdzv-id");
        assertThatThrownBy(() -> ComputeRun.of("x", two, false, CLOCK))
                .isInstanceOf(CaravanException.class)
                .hasMessageContaining("--sink DIR");
    }
}
