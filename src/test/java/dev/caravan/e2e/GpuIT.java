package dev.caravan.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.caravan.store.Layout;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Who gets which GPU. The children say what they see. */
class GpuIT {
    /** A folder for each device in use: who finds it there already fails. */
    private static final String ALONE_ON_ITS_DEVICES = """
            echo "$3 ${4##*/} $CUDA_VISIBLE_DEVICES" >> "$5/seen.txt"
            mkdir "$5/in-use-$CUDA_VISIBLE_DEVICES" || exit 1
            trap 'rmdir "$5/in-use-$CUDA_VISIBLE_DEVICES"' EXIT
            """;

    /** Until that many have been at work at the same time. */
    private static final String WAIT_FOR = """
            touch "$5/here-$3"
            while [ ! -e "$5/met" ]; do
              [ "$(ls "$5" | grep -c '^here-')" -lt %d ] || touch "$5/met"
              sleep 0.05
            done
            """;

    @RegisterExtension
    final Fleet fleet = new Fleet();

    private JsonNode run(Sample job) {
        return fleet.run("run", job.descriptor().toString(), "--job-dir", job.jobDir(), "--json")
                .endsWith(0)
                .json();
    }

    private List<String> seen() {
        return Sample.read(fleet.folder().resolve("seen.txt")).lines().toList();
    }

    private List<String> devices() {
        return seen().stream().map(line -> line.split(" ", -1)[2]).toList();
    }

    @Test
    void slots_work_at_once_each_with_a_device_of_its_own_and_that_of_a_dead_child_is_used_again() {
        fleet.with("gpus.logical", "4").with("node.slots", "4");
        String dyingOnce = "case \"$3\" in part-00000-*) mkdir \"$5/died\" 2>/dev/null"
                + " && rmdir \"$5/in-use-$CUDA_VISIBLE_DEVICES\" && kill -KILL $$;; esac";
        Sample job = new Sample(fleet.folder(), "each", 80, 8)
                .written(
                        ALONE_ON_ITS_DEVICES + WAIT_FOR.formatted(4) + dyingOnce,
                        "ray: {num_gpus: 1}",
                        "policy: {max_retries: 0}");

        run(job);

        assertThat(job.inOwnDirectory().mergedByDefault()).content().isEqualTo(job.expected());
        assertThat(devices()).hasSize(9).containsOnly("0", "1", "2", "3");
        assertThat(devices().subList(0, 4)).containsExactlyInAnyOrder("0", "1", "2", "3");
        String ofTheDead = seen().stream()
                .filter(line -> line.startsWith(job.shard(0) + " "))
                .map(line -> line.split(" ")[2])
                .findFirst()
                .orElseThrow();
        assertThat(devices().stream().filter(ofTheDead::equals).count())
                .as("uses of the device of the child that died")
                .isGreaterThan(1);
    }

    @Test
    void two_shards_share_a_device_by_halves() {
        fleet.with("gpus.logical", "1").with("node.slots", "3");
        Sample job = new Sample(fleet.folder(), "halves", 40, 4)
                .written(
                        "echo \"$3 ${4##*/} $CUDA_VISIBLE_DEVICES\" >> \"$5/seen.txt\"\n" + WAIT_FOR.formatted(2)
                                + "mkdir \"$5/a\" || mkdir \"$5/b\" || exit 1\n"
                                + "trap 'rmdir \"$5/b\" || rmdir \"$5/a\"' EXIT\n",
                        "ray: {num_gpus: 0.5}",
                        "policy: {max_retries: 0}");

        run(job);

        assertThat(devices()).containsExactly("0", "0", "0", "0");
    }

    @Test
    void all_devices_go_to_one_shard_at_a_time() {
        fleet.with("gpus.logical", "3").with("node.slots", "2");
        Sample job = new Sample(fleet.folder(), "all", 40, 4)
                .written(ALONE_ON_ITS_DEVICES, "ray: {num_gpus: all}", "policy: {max_retries: 0}");

        run(job);

        assertThat(devices()).containsExactly("0,1,2", "0,1,2", "0,1,2", "0,1,2");
    }

    @Test
    void a_job_that_no_node_can_take_is_refused_at_submission_and_held_in_the_inbox_until_a_node_can()
            throws IOException {
        Path tools = fleet.folder().resolve("tools");
        Sample.write(tools.resolve("nvidia-smi"), """
                #!/bin/sh
                [ "$*" = -L ] || exit 2
                echo 'GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-5d5ba0d6-d33d-2b2c-524d-9e3d8d2b8a77)'
                echo '  MIG 3g.20gb     Device  0: (UUID: MIG-c6d4f1ef-42e4-5de3-91c7-45d71c87eb3f)'
                echo '  MIG 1g.5gb      Device  1: (UUID: MIG-cba663e8-9bed-5b25-b243-5985ef7c9beb)'
                echo 'GPU 1: NVIDIA A100-SXM4-40GB (UUID: GPU-b5f4b8ae-9d2b-c4f1-8d4f-0c0c8b0f6b55)'
                """);
        Files.setPosixFilePermissions(tools.resolve("nvidia-smi"), PosixFilePermissions.fromString("rwxr-xr-x"));
        fleet.withVariable("PATH", tools + ":" + System.getenv("PATH"));
        Sample job = new Sample(fleet.folder(), "large", 40, 4).written(ALONE_ON_ITS_DEVICES, "ray: {num_gpus: 4}");
        String root = job.root().toString();
        Layout.Root layout = new Layout.Root(job.root());
        CaravanProcess small = fleet.with("node.id", "small").start("node", "--root", root);
        Await.until("the node is known", () -> Files.exists(layout.node("small")), small::toString);
        JsonNode known = new ObjectMapper().readTree(layout.node("small").toFile());
        assertThat(known.at("/gpu_devices"))
                .extracting(JsonNode::asText)
                .containsExactly(
                        "MIG-c6d4f1ef-42e4-5de3-91c7-45d71c87eb3f", "MIG-cba663e8-9bed-5b25-b243-5985ef7c9beb", "1");
        String had = "small has 3 (MIG-c6d4f1ef-42e4-5de3-91c7-45d71c87eb3f,"
                + "MIG-cba663e8-9bed-5b25-b243-5985ef7c9beb,1)";

        assertThat(fleet.run("submit", job.descriptor().toString(), "--root", root)
                        .endsWith(2)
                        .stderr())
                .contains("a shard asks for GPUs: 4, and no node has as many (" + had + ")");
        assertThat(Sample.names(layout.inbox())).as("the inbox").noneMatch(name -> name.endsWith(".yaml"));

        Files.copy(job.descriptor(), layout.inbox().resolve("large.yaml"));
        small.awaitLog("no node has as many (" + had + "): the job waits for one that has");
        assertThat(job.runs()).isEmpty();

        fleet.with("node.id", "large")
                .with("gpus.logical", "5")
                .run("node", "--root", root, "--once")
                .endsWith(0);

        assertThat(job.inRoot().mergedByDefault()).content().isEqualTo(job.expected());
        assertThat(devices()).containsOnly("0,1,2,3");
        assertThat(IntStream.range(0, 4).mapToObj(i -> Sample.claim(job.inRoot(), job.shard(i), 1)))
                .allSatisfy(claim -> assertThat(claim.orElseThrow().node()).isEqualTo("large"));
    }
}
