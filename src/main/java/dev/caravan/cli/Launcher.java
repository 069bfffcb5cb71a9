package dev.caravan.cli;

import dev.caravan.CaravanException;
import dev.caravan.store.Disk;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The launcher that started this process. Work is not divided by ranks; they tell only which of several processes on one
 * host is the one that works.
 *
 * @param variable where the launcher says which of its processes on this host this is
 */
record Launcher(String name, String variable, int localRank) {
    /** The innermost comes first: torchrun runs below mpirun, mpirun below Slurm. */
    private static final Map<String, String> LOCAL_RANKS = new LinkedHashMap<>();

    static {
        LOCAL_RANKS.put("torchrun", "LOCAL_RANK");
        LOCAL_RANKS.put("OpenMPI", "OMPI_COMM_WORLD_LOCAL_RANK");
        LOCAL_RANKS.put("Slurm", "SLURM_LOCALID");
    }

    /** Where MPIJobs of Kubernetes and PAI-DLC keep the hosts, on the launcher alone. */
    private static final String HOSTS_OF_MPIJOB = "/etc/mpi/hostfile";

    static Optional<Launcher> of(Map<String, String> environment) {
        return LOCAL_RANKS.entrySet().stream()
                .filter(known -> environment.getOrDefault(known.getValue(), "").matches("\\d{1,9}"))
                .findFirst()
                .map(known -> new Launcher(
                        known.getKey(), known.getValue(), Integer.parseInt(environment.get(known.getValue()))));
    }

    boolean isExtra() {
        return localRank > 0;
    }

    /** Who expects the command on every node, and has it on the launcher of MPI alone, would wait for the others in vain. */
    static void refuseMpiLauncherAlone(Map<String, String> environment) {
        boolean isRank =
                Stream.of("OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK").anyMatch(environment::containsKey);
        String hosts = environment.getOrDefault("OMPI_MCA_orte_default_hostfile", HOSTS_OF_MPIJOB);
        if (!isRank && Disk.isFile(Path.of(hosts))) {
            throw new CaravanException(
                    "this is the launcher of an MPI job (" + hosts + " names its hosts, and mpirun did"
                            + " not start this process): the command runs here alone and on no worker. Start it on each by"
                            + " mpirun -np N -npernode 1 caravan run ..., as configs/schedulers/pai-dlc-mpijob.sh does");
        }
    }
}
