package dev.caravan.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Templates of launchers that are not here: what they do is done in their place. */
class TemplatesIT {
    @RegisterExtension
    final Fleet fleet = new Fleet();

    private void given(Sample job) {
        fleet.withVariable("CARAVAN", fleet.program().toString())
                .withVariable("JOB", job.descriptor().toString())
                .withVariable("JOB_DIR", job.jobDir());
    }

    private CaravanProcess start(String template) {
        return fleet.startCommand(
                template, List.of("sh", Fleet.template(template).toString()));
    }

    private Path standIn(String name, String script) {
        Path file = fleet.folder().resolve("tools").resolve(name);
        Sample.write(file, "#!/bin/sh\n" + script);
        assertThat(file.toFile().setExecutable(true)).isTrue();
        return file;
    }

    @Test
    void the_command_that_dlc_runs_on_every_worker_is_one_run() {
        Sample job = new Sample(fleet.folder(), "dlc", 20, 4).written("");
        given(job);
        fleet.withVariable("PAI_JOB_ID", "dlc-1").withVariable("WORLD_SIZE", "2");

        List<CaravanProcess> workers = new ArrayList<>();
        for (String rank : List.of("0", "1")) {
            fleet.withVariable("RANK", rank);
            workers.add(start("pai-dlc.sh"));
        }

        workers.forEach(worker -> worker.endsWith(0));
        assertThat(job.inOwnDirectory().mergedByDefault()).content().isEqualTo(job.expected());
        assertThat(Sample.names(job.inOwnDirectory().coordination()))
                .as("generations")
                .hasSize(1);
        assertThat(workers).allSatisfy(worker -> assertThat(worker.stdout()).contains("PASS: 4 shards"));
    }

    @Test
    void torchrun_starts_one_process_on_each_node() {
        Sample job = new Sample(fleet.folder(), "torch", 20, 4).written("");
        given(job);
        Path torchrun = standIn("torchrun", """
                for option; do
                  case $option in
                    --no-python) shift;;
                    --nproc-per-node=1|--nnodes=1|--node-rank=0|--master-addr=*|--master-port=*) shift;;
                    --*) echo "torchrun: no such option: $option" >&2; exit 2;;
                    *) break;;
                  esac
                done
                RANK=0 LOCAL_RANK=0 WORLD_SIZE=1 exec "$@"
                """);
        fleet.withVariable("PATH", torchrun.getParent() + ":" + System.getenv("PATH"))
                .withVariable("RUN_ID", "torch-1");

        start("torchrun.sh").endsWith(0);

        assertThat(job.inOwnDirectory().mergedByDefault()).content().isEqualTo(job.expected());
    }

    @Test
    void ssh_starts_a_process_on_each_host_and_ends_with_the_highest_exit_code() {
        Trick.requireRun("needs root to give host names", "unshare", "-u", "hostname", "host-a");
        Sample job = new Sample(fleet.folder(), "ssh", 20, 4).written("""
                touch "$5/here-$(hostname)"
                while [ "$(ls "$5" | grep -c '^here-')" -lt 2 ]; do sleep 0.05; done
                [ "$3" != part-00003-of-00004 ] || exit 1
                """, "policy: {max_retries: 0}");
        given(job);
        Path ssh = standIn("ssh", "exec unshare -u sh -c 'hostname \"$0\" && eval \"$*\"' \"$@\"\n");
        Sample.write(fleet.folder().resolve("hosts"), "host-a\nhost-b # the second\n");

        fleet.withVariable("SSH", ssh.toString());
        start("ssh.sh").endsWith(2);

        assertThat(Sample.names(fleet.folder())).contains("here-host-a", "here-host-b");
        assertThat(Stream.of("a", "b").map(host -> fleet.folder().resolve("caravan-host-" + host + ".log")))
                .allSatisfy(log -> assertThat(log).content().contains("returned exit code 1"));
    }

    @Test
    void a_run_leaves_in_time_before_the_end_of_its_slurm_job() {
        Sample job = new Sample(fleet.folder(), "ending", 10, 1).written("sleep 1000");
        long drainGraceAndReserve = 1 + 2 + 10;
        long end = Instant.now().getEpochSecond() + drainGraceAndReserve + 5;
        fleet.withVariable("SLURM_JOB_END_TIME", Long.toString(end));

        CaravanProcess run = fleet.run("run", job.descriptor().toString(), "--job-dir", job.jobDir());

        assertThat(run.endsWith(1).stderr()).contains("left before the end");
        assertThat(Instant.now().getEpochSecond()).as("in time").isLessThan(end);
    }
}
