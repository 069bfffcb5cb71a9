package dev.caravan.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.caravan.CaravanException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LauncherTest {
    private static Map<String, String> environment(String assignments) {
        return Arrays.stream(assignments.split(" "))
                .map(assignment -> assignment.split("=", 2))
                .collect(Collectors.toMap(pair -> pair[0], pair -> pair[1]));
    }

    @ParameterizedTest
    @CsvSource({
        "RANK=3 WORLD_SIZE=8 LOCAL_RANK=1 OMPI_COMM_WORLD_LOCAL_RANK=0 SLURM_LOCALID=0, torchrun, true",
        "LOCAL_RANK=0 OMPI_COMM_WORLD_LOCAL_RANK=1 SLURM_LOCALID=1, torchrun, false",
        "OMPI_COMM_WORLD_RANK=2 OMPI_COMM_WORLD_LOCAL_RANK=2 SLURM_LOCALID=0, OpenMPI, true",
        "OMPI_COMM_WORLD_RANK=2 OMPI_COMM_WORLD_LOCAL_RANK=0 SLURM_LOCALID=1, OpenMPI, false",
        "SLURM_PROCID=1 SLURM_LOCALID=1, Slurm, true",
        "SLURM_PROCID=1 SLURM_LOCALID=0, Slurm, false"
    })
    void the_innermost_launcher_says_which_process_of_a_host_works(String assignments, String name, boolean extra) {
        Launcher launcher = Launcher.of(environment(assignments)).orElseThrow();

        assertThat(launcher.name()).isEqualTo(name);
        assertThat(launcher.isExtra()).isEqualTo(extra);
    }

    @ParameterizedTest
    @CsvSource({"RANK=3 WORLD_SIZE=4 MASTER_ADDR=a", "LOCAL_RANK=", "SLURM_JOB_ID=7", "PATH=/bin"})
    void a_broadcast_has_no_local_ranks_and_all_its_processes_work(String assignments) {
        assertThat(Launcher.of(environment(assignments))).isEmpty();
    }

    @Test
    void the_launcher_of_mpi_alone_is_refused_and_its_ranks_are_not(@TempDir Path folder) throws IOException {
        String hosts = Files.writeString(folder.resolve("hostfile"), "worker-0 slots=1\n")
                .toString();

        assertThatThrownBy(() -> Launcher.refuseMpiLauncherAlone(Map.of("OMPI_MCA_orte_default_hostfile", hosts)))
                .isInstanceOf(CaravanException.class)
                .hasMessageContainingAll(hosts, "runs here alone", "mpirun -np N -npernode 1");
        assertThatCode(() -> Launcher.refuseMpiLauncherAlone(
                        Map.of("OMPI_MCA_orte_default_hostfile", hosts, "OMPI_COMM_WORLD_RANK", "0")))
                .doesNotThrowAnyException();
        assertThatCode(() -> Launcher.refuseMpiLauncherAlone(Map.of("OMPI_MCA_orte_default_hostfile", hosts + "-not")))
                .doesNotThrowAnyException();
    }

    @ParameterizedTest
    @CsvSource({
        "PAI_JOB_ID=a DLC_JOB_ID=b JOB_ID=c SLURM_ARRAY_JOB_ID=d SLURM_JOB_ID=e, a",
        "DLC_JOB_ID=b JOB_ID=c SLURM_ARRAY_JOB_ID=d SLURM_JOB_ID=e, b",
        "PAI_JOB_ID= JOB_ID=c SLURM_ARRAY_JOB_ID=d SLURM_JOB_ID=e, c",
        "SLURM_ARRAY_JOB_ID=d SLURM_JOB_ID=e, d",
        "SLURM_JOB_ID=e, e",
        "PATH=/bin, default"
    })
    void the_run_id_is_that_of_the_outermost_scheduler(String assignments, String id) {
        assertThat(RunId.of(null, environment(assignments))).isEqualTo(id);
        assertThat(RunId.of("given", environment(assignments))).isEqualTo("given");
    }
}
