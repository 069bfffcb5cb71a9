package dev.caravan.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.caravan.shard.ClaimStatus;
import dev.caravan.shard.ShardId;
import dev.caravan.store.JobFiles;
import dev.caravan.store.Layout;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class DoctorIT {
    @RegisterExtension
    final Fleet fleet = new Fleet().withShortLeases();

    private Path root() throws IOException {
        return Files.createDirectories(fleet.folder().resolve("root"));
    }

    private static List<String> below(Path folder) throws IOException {
        try (Stream<Path> all = Files.walk(folder)) {
            return all.filter(path -> !path.equals(folder))
                    .map(path -> folder.relativize(path).toString())
                    .sorted()
                    .toList();
        }
    }

    private static JsonNode property(JsonNode diagnosis, String name) {
        return StreamSupport.stream(diagnosis.at("/properties").spliterator(), false)
                .filter(line -> line.at("/property").asText().equals(name))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void processes_of_this_machine_measure_a_root() throws IOException {
        Path root = root();
        String table = fleet.with("node.id", "here")
                .run("doctor", "--root", root.toString())
                .endsWith(0)
                .stdout();

        assertThat(table)
                .contains("property", "verdict", "300 names, 3 contenders: one winner each", "0 missing, 0 mixed")
                .contains("recommended  claim.lease: ")
                .doesNotContain("FAIL");
        assertThat(below(root)).containsExactly("doctor", "doctor/here.json");
    }

    @Test
    void two_doctors_at_the_same_time_measure_what_one_sees_of_the_other() throws IOException {
        Path root = root();
        CaravanProcess a =
                fleet.with("node.id", "a").start("doctor", "--root", root.toString(), "--peers", "2", "--json");
        CaravanProcess b =
                fleet.with("node.id", "b").start("doctor", "--root", root.toString(), "--peers", "2", "--json");

        JsonNode diagnosis = a.endsWith(0).json();
        assertThat(diagnosis.at("/nodes"))
                .hasSize(2)
                .isEqualTo(b.endsWith(0).json().at("/nodes"));
        assertThat(property(diagnosis, "race of links").at("/measured").asText())
                .isEqualTo("300 names, 6 contenders: one winner each");
        assertThat(property(diagnosis, "race of links").at("/verdict").asText()).isEqualTo("ok");
        assertThat(property(diagnosis, "fcntl locks").at("/measured").asText()).contains("between nodes");
        assertThat(below(root)).containsExactly("doctor", "doctor/a.json", "doctor/b.json");
    }

    @Test
    void a_doctor_that_is_told_to_end_leaves_nothing() throws IOException {
        Path root = root();
        CaravanProcess doctor = fleet.start("doctor", "--root", root.toString(), "--peers", "2");
        Await.until(
                "it waits for the other", () -> Files.isDirectory(root.resolve("doctor/.meeting")), doctor::toString);

        doctor.signal("TERM");

        doctor.endsWith(143);
        assertThat(below(root)).isEmpty();
    }

    @Test
    void a_failed_rename_is_named_with_its_mount_by_the_doctor_and_by_nodes() throws IOException {
        List<String> broken = Trick.failing("rename,renameat,renameat2", "EIO");
        Path root = root();

        assertThat(fleet.startUnder(broken, "node", "--root", root.toString(), "--once")
                        .endsWith(2)
                        .stderr())
                .contains("caravan: Caravan must not run on the mount ")
                .contains(
                        ": atomic rename: a rename over a file failed: Input/output error (readers must see the old fact"
                                + " or the new one, never none or half)");
        assertThat(below(root)).isEmpty();
    }

    @Test
    void without_links_a_node_says_so_and_runs() throws IOException {
        List<String> noLinks = Trick.failing("link,linkat", "EPERM");

        assertThat(fleet.startUnder(noLinks, "node", "--root", root().toString(), "--once")
                        .endsWith(0)
                        .stderr())
                .contains(
                        "exclusive link: no links here (Operation not permitted): exclusive creation takes their place");
    }

    @Test
    void an_fsync_that_fails_is_refused() throws IOException {
        List<String> broken = Trick.failing("fsync,fdatasync", "EIO");
        Path root = root();

        assertThat(fleet.startUnder(broken, "doctor", "--root", root.toString())
                        .endsWith(2)
                        .stderr())
                .contains("caravan: Caravan must not run on the mount ")
                .contains("fsync: a file cannot be written and synced: Input/output error");
        assertThat(below(root)).isEmpty();
    }

    @Test
    void a_full_disk_is_refused() throws IOException {
        Path root = root();
        List<String> full = Trick.withMount(root.toString(), "-t tmpfs -o size=512k tmpfs");
        assertThat(fleet.startUnder(full, "node", "--root", root.toString(), "--once")
                        .endsWith(2)
                        .stderr())
                .contains("must not run on the mount " + root + " (tmpfs from tmpfs): free space: 512 KiB");

        List<String> noInodes = Trick.withMount(root.toString(), "-t tmpfs -o nr_inodes=10 tmpfs");
        assertThat(fleet.startUnder(noInodes, "node", "--root", root.toString(), "--once")
                        .endsWith(2)
                        .stderr())
                .contains("(tmpfs from tmpfs): free inodes: 9 (each fact is a file of its own)");
    }

    @Test
    void a_root_or_job_directory_that_is_mounted_read_only_is_refused() throws IOException {
        Path root = root();
        List<String> readOnly = Trick.withMount(root.toString(), "-t tmpfs -o ro tmpfs");
        String expected = "Caravan cannot run here: " + root + " cannot be written: " + root
                + " (tmpfs from tmpfs) is mounted read-only (ro)";

        for (String[] command : new String[][] {
            {"node", "--root", root.toString()},
            {"doctor", "--root", root.toString()},
            {"run", "--config", "x", "--dataset-path", "y", "--job-dir", root + "/jobs/j"}
        }) {
            assertThat(fleet.startUnder(readOnly, command).endsWith(2).stderr()).contains(expected);
        }
    }

    @Test
    void a_directory_of_another_user_is_refused() throws IOException {
        List<String> nobody = Trick.asNobody();
        Sample job = new Sample(fleet.folder(), "others", 8, 2).written("");
        fleet.run("prepare", job.descriptor().toString(), "--job-dir", job.jobDir())
                .endsWith(0);
        Path root = root();
        openToAll(fleet.folder());

        for (String[] command : new String[][] {
            {"node", "--root", root.toString()},
            {"doctor", "--root", root.toString()},
            {"worker", "--job-dir", job.jobDir()}
        }) {
            String directory = command[2];
            assertThat(fleet.startUnder(nobody, command).endsWith(2).stderr())
                    .containsPattern("Caravan cannot run here: \\Q" + directory
                            + "\\E cannot be written by user \\S+: it belongs to \\S+:\\S+ with mode rwxr-xr-x");
        }
    }

    /** Readable, not writable. */
    private static void openToAll(Path folder) throws IOException {
        assertThat(new ProcessBuilder("chmod", "-R", "a+rX", folder.toString())
                        .inheritIO()
                        .start()
                        .onExit()
                        .join()
                        .exitValue())
                .isZero();
    }

    @Test
    void a_lease_below_the_doctors_recommendation_is_a_warning() throws IOException {
        Path root = root();
        Files.createDirectories(root.resolve("doctor"));
        Files.writeString(
                root.resolve("doctor/other.json"),
                "{\"verdict\": \"ok\", \"recommended\": {\"lease\": \"PT2M20S\", \"heartbeat\": \"PT10S\"}}");

        assertThat(fleet.run("node", "--root", root.toString(), "--once")
                        .endsWith(0)
                        .stderr())
                .contains("claim.lease is 4s, but " + root.resolve("doctor/other.json")
                        + " recommends 140s (claim.heartbeat 10s)");
    }

    @Test
    void a_repaired_job_is_finished_by_the_nodes() throws IOException {
        Sample job = new Sample(fleet.folder(), "repair", 40, 4).written("");
        String dir = job.jobDir();
        Layout.Job layout = job.inOwnDirectory();
        JobFiles files = new JobFiles(layout);
        fleet.run("prepare", job.descriptor().toString(), "--job-dir", dir).endsWith(0);
        fleet.run("worker", "--job-dir", dir).endsWith(0);
        assertThat(fleet.run("doctor", "--job-dir", dir).endsWith(0).stdout()).isEqualTo("nothing found\n");
        ShardId damaged = ShardId.parse(job.shard(1));
        ShardId lost = ShardId.parse(job.shard(2));
        Files.writeString(layout.resolve(files.done(damaged).orElseThrow().outputPath()), "{}\n");
        Files.delete(layout.done(lost));
        Files.writeString(layout.locks().resolve("README"), "hands off");
        assertThat(fleet.run("merge", "--job-dir", dir).endsWith(2).stderr()).contains("found 3");

        JsonNode dry =
                fleet.run("doctor", "--job-dir", dir, "--json").endsWith(1).json();
        assertThat(dry.at("/findings").findValuesAsText("need"))
                .containsOnlyOnce("nothing")
                .contains("fix");
        CaravanProcess fixed = fleet.run("doctor", "--job-dir", dir, "--fix").endsWith(0);
        assertThat(fixed.stderr()).contains("watching for a lease (4s)");
        assertThat(fixed.stdout())
                .contains("fixed    state/locks/README: does not belong there")
                .contains("-> moved to state/history/doctor-1/state/locks/README")
                .contains("4 found: 1 nothing, 3 fixed");
        assertThat(Sample.claim(layout, lost.toString(), 2).orElseThrow().status())
                .isEqualTo(ClaimStatus.RELEASED);

        fleet.run("worker", "--job-dir", dir).endsWith(0);
        fleet.run("merge", "--job-dir", dir).endsWith(0);
        assertThat(layout.mergedByDefault()).content().isEqualTo(job.expected());
        fleet.run("verify", "--job-dir", dir).endsWith(0);
        Files.delete(layout.mergedByDefault());
        assertThat(fleet.run("doctor", "--job-dir", dir).endsWith(2).stdout())
                .startsWith("person   merge.json: its output " + layout.mergedByDefault());
    }

    @Test
    void options_that_do_not_go_together_are_refused() throws IOException {
        String root = root().toString();
        assertThat(fleet.run("doctor").endsWith(2).stderr()).contains("--root=DIR | --job-dir=DIR");
        assertThat(fleet.run("doctor", "--root", root, "--fix").endsWith(2).stderr())
                .contains("--fix goes with --job-dir");
        assertThat(fleet.run("doctor", "--root", root, "--peers", "0")
                        .endsWith(2)
                        .stderr())
                .contains("expected 1 or more, found 0");
    }
}
