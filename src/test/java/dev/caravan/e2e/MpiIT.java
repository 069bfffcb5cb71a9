package dev.caravan.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** OpenMPI's own mpirun. Hosts are host names of this machine, reached by unshare in place of ssh. */
class MpiIT {
    private static final String ONCE_THREE_WORK = """
            touch "$5/here-$(hostname)"
            while [ "$(ls "$5" | grep -c '^here-')" -lt 3 ]; do sleep 0.05; done
            """;

    @RegisterExtension
    final Fleet fleet = new Fleet();

    @BeforeAll
    static void needs() {
        Trick.requireRun("needs root to give host names", "unshare", "-u", "hostname", "host-a");
        Trick.requireRun("needs OpenMPI", "mpirun", "--version");
    }

    @BeforeEach
    void hosts() {
        Path agent = fleet.folder().resolve("agent");
        Sample.write(agent, """
                #!/bin/sh
                host=$1
                shift
                exec unshare -u sh -c 'hostname "$0" && exec sh -c "$*"' "$host" "$@"
                """);
        assertThat(agent.toFile().setExecutable(true)).isTrue();
        Sample.write(fleet.folder().resolve("hosts"), "host-a slots=1\nhost-b slots=1\n# gone\nhost-c slots=1\n");
        fleet.withVariable("OMPI_MCA_plm_rsh_agent", agent.toString())
                .withVariable("HOSTFILE", fleet.folder().resolve("hosts").toString());
    }

    private CaravanProcess launch(String template, Sample job) {
        fleet.withVariable("CARAVAN", fleet.program().toString())
                .withVariable("JOB", job.descriptor().toString())
                .withVariable("JOB_DIR", job.jobDir());
        return fleet.startCommand(template, List.of(Fleet.template(template).toString()))
                .ends();
    }

    private static JsonNode merged(Sample job) throws IOException {
        return new ObjectMapper()
                .readTree(Files.readAllBytes(job.inOwnDirectory().mergeRecord()));
    }

    @Test
    void mpirun_starts_a_node_on_each_host_of_its_file() throws IOException {
        Sample job = new Sample(fleet.folder(), "hosts", 60, 6).written(ONCE_THREE_WORK);

        launch("mpirun.sh", job).endsWith(0);

        assertThat(job.inOwnDirectory().mergedByDefault()).content().isEqualTo(job.expected());
        assertThat(merged(job).at("/nodes"))
                .extracting(node -> node.at("/hostname").asText())
                .containsExactlyInAnyOrder("host-a", "host-b", "host-c");
    }

    @Test
    void an_mpi_job_takes_part_with_every_host_or_fails_and_its_launcher_alone_is_refused() throws IOException {
        Sample job = new Sample(fleet.folder(), "strict", 60, 6).written("");
        String[] strict = {
            "run", job.descriptor().toString(), "--job-dir", job.jobDir(), "--nodes", "3", "--require-all-nodes"
        };
        fleet.withVariable(
                "OMPI_MCA_orte_default_hostfile",
                fleet.folder().resolve("hosts").toString());

        assertThat(fleet.run(strict).endsWith(2).stderr()).contains("runs here alone", "mpirun -np N -npernode 1");
        assertThat(job.inOwnDirectory().coordination()).as("a refused run").doesNotExist();

        List<String> mpirun = List.of("mpirun", "--allow-run-as-root", "-np", "3", "-npernode", "1");
        fleet.startUnder(mpirun, strict).endsWith(0);
        assertThat(merged(job).at("/nodes"))
                .hasSize(3)
                .allSatisfy(node -> assertThat(node.at("/shards").asInt()).isEqualTo(2));
    }

    @Test
    void a_shard_that_fails_for_good_is_the_exit_code_of_the_launcher() {
        Sample job = new Sample(fleet.folder(), "failing", 20, 2).written("exit 3", "policy: {max_retries: 0}");
        fleet.withVariable("JOB_ID", "17");

        assertThat(launch("pai-dlc-mpijob.sh", job).exitCode()).isEqualTo(2);
    }

    @Test
    void of_three_ranks_on_one_host_one_works() throws IOException {
        Sample job = new Sample(fleet.folder(), "ranks", 20, 2).written("");

        CaravanProcess mpirun = fleet.startUnder(
                        List.of("mpirun", "--allow-run-as-root", "--oversubscribe", "-np", "3"),
                        "run",
                        job.descriptor().toString(),
                        "--job-dir",
                        job.jobDir())
                .endsWith(0);

        assertThat(mpirun.stderr().lines().filter(line -> line.contains("has nothing to do")))
                .hasSize(2);
        assertThat(merged(job).at("/nodes")).hasSize(1);
    }

    @Test
    void of_a_plan_all_hosts_compute_a_part_and_the_first_rank_prints_each_result_once() {
        Sample.write(fleet.folder().resolve("hosts"), "host-a slots=2\nhost-b slots=2\n");
        Sample.write(fleet.folder().resolve("task.py"), """
                def plan():
                    yield from ({"id": i} for i in range(40))

                def execute(item):
                    return {"square": item["id"] ** 2}
                """);
        List<String> mpirun =
                List.of("mpirun", "--allow-run-as-root", "-np", "4", "--hostfile", fleet.folder() + "/hosts");

        CaravanProcess ranks = fleet.with("python.executable", RealPython.info().executable())
                .startUnder(mpirun, "compute", "task.py", "--sink", "sink", "--job-id", "squares")
                .endsWith(0);

        String expected = IntStream.range(0, 40)
                .mapToObj(i -> "{\"id\": %d, \"result\": {\"square\": %d}}\n".formatted(i, i * i))
                .collect(Collectors.joining());
        assertThat(ranks.stdout()).isEqualTo(expected);
        assertThat(fleet.folder().resolve("sink/ready.ndjson")).content().isEqualTo(expected);
        assertThat(ranks.stderr().lines().filter(line -> line.matches(".*Node  node host-[ab]-\\S+ starts.*")))
                .as("a node on each host")
                .hasSize(2);
    }
}
