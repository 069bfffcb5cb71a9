package dev.caravan.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.caravan.shard.ClaimStatus;
import dev.caravan.shard.Spent;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Slurm's own daemons, with the templates that users are given. */
class SlurmIT {
    private static SlurmCluster slurm;

    @RegisterExtension
    final Fleet fleet = new Fleet();

    @BeforeAll
    static void start() throws IOException {
        Trick.requireRun("needs root to run Slurm", "sh", "-c", "[ $(id -u) = 0 ]");
        Trick.requireRun("needs Slurm", "slurmctld", "-V");
        Trick.requireRun("needs munge", "munged", "--version");
        slurm = SlurmCluster.start();
    }

    @AfterAll
    static void stop() throws IOException {
        if (slurm != null) {
            slurm.close();
        }
    }

    /** @return the id of the submitted job */
    private String submit(Sample job, String template, String... options) {
        fleet.withVariable("CARAVAN", fleet.program().toString())
                .withVariable("JOB", job.descriptor().toString())
                .withVariable("JOB_DIR", job.jobDir());
        slurm.environment().forEach(fleet::withVariable);
        List<String> command = new ArrayList<>(List.of("sbatch", "--parsable"));
        command.addAll(List.of(options));
        command.add(Fleet.template(template).toString());
        return fleet.startCommand("sbatch " + template, command)
                .endsWith(0)
                .stdout()
                .strip();
    }

    private String log(String jobId) {
        Path log = fleet.folder().resolve("caravan-" + jobId + ".log");
        return Files.exists(log) ? Sample.read(log) : "";
    }

    @Test
    void a_job_that_is_told_of_its_end_is_requeued_and_finishes() throws Exception {
        Sample job = new Sample(fleet.folder(), "requeued", 60, 6)
                .written("while [ ! -e \"$5/released\" ]; do sleep 0.2; done");
        String id = submit(job, "slurm-step.sbatch", "--nodes=2", "--time=20");
        Await.until("both nodes work", () -> job.runs().size() == 2, () -> log(id));

        slurm.run("scancel", "--signal=USR1", id);
        Await.until("the nodes leave", () -> log(id).contains("left before the end"), () -> log(id));
        Sample.write(fleet.folder().resolve("released"), "");

        assertThat(slurm.stateAtEnd(id, fleet.folder().resolve("caravan-" + id + ".log")))
                .as(log(id))
                .isEqualTo("COMPLETED");
        assertThat(log(id)).contains("is to leave: signal USR1", "left before the end");
        assertThat(slurm.run("scontrol", "show", "job", id)).contains("Restarts=1");
        assertThat(job.inOwnDirectory().mergedByDefault()).content().isEqualTo(job.expected());
        for (String run : job.runs().subList(0, 2)) {
            String shard = run.split(" ")[0];
            assertThat(Sample.claim(job.inOwnDirectory(), shard, 1)
                            .orElseThrow()
                            .status())
                    .isEqualTo(ClaimStatus.PREEMPTED);
            assertThat(Sample.claim(job.inOwnDirectory(), shard, 2)
                            .orElseThrow()
                            .spent())
                    .as("retries that the preemption cost")
                    .isEqualTo(Spent.NOTHING);
        }
    }

    @Test
    void the_tasks_of_an_array_are_the_nodes_of_one_run() throws Exception {
        Sample job = new Sample(fleet.folder(), "array", 40, 4).written("""
                touch "$5/here-$SLURMD_NODENAME"
                while [ ! -e "$5/here-n1" ] || [ ! -e "$5/here-n2" ]; do sleep 0.05; done
                """);

        String id = submit(job, "slurm-array.sbatch", "--array=1-2", "--cpus-per-task=2", "--time=20");

        assertThat(slurm.stateAtEnd(id, fleet.folder().resolve("caravan-" + id + "_1.log")))
                .as(log(id + "_1"))
                .isEqualTo("COMPLETED");
        assertThat(job.inOwnDirectory().mergedByDefault()).content().isEqualTo(job.expected());
        assertThat(new ObjectMapper()
                        .readTree(Files.readAllBytes(job.inOwnDirectory().mergeRecord()))
                        .at("/nodes"))
                .hasSize(2);
        assertThat(Sample.names(job.inOwnDirectory().coordination()))
                .as("generations")
                .hasSize(1);
    }
}
