package dev.caravan.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The job directory lies on a file system of its own, which is too small at first. */
class FullDiskIT {
    @RegisterExtension
    final Fleet fleet = new Fleet();

    @Test
    @DisplayName(
            "D05 D01 D02 a disk that fills up while shards are written leaves none; the merged file crosses to another disk")
    void a_full_disk_leaves_nothing_and_another_disk_takes_the_merged_file() throws Exception {
        Path small = Files.createDirectory(fleet.folder().resolve("small"));
        Sample job = new Sample(fleet.folder(), "full", 8000, 10).written("", "shards: files");
        Process world = small(small, "300k");
        try {
            List<String> there = List.of("nsenter", "-m", "-t", sleeper(world), "--");
            String dir = small.resolve("jobs/full").toString();
            String[] prepare = {"prepare", job.descriptor().toString(), "--job-dir", dir};

            assertThat(fleet.startUnder(there, prepare).endsWith(2).stderr())
                    .contains("No space left on device", "Nothing was prepared");
            assertThat(names(inside(world, small.resolve("jobs")))).isEmpty();

            run("nsenter", "-m", "-t", sleeper(world), "--", "mount", "-o", "remount,size=600m", small.toString());
            fleet.startUnder(there, prepare).endsWith(0);
            fleet.startUnder(there, "worker", "--job-dir", dir).endsWith(0);
            Path output = fleet.folder().resolve("out/merged.jsonl");
            fleet.startUnder(there, "merge", "--job-dir", dir, "--output", output.toString())
                    .endsWith(0);
            assertThat(output).content().isEqualTo(job.expected());
            assertThat(names(output.getParent())).containsExactly("merged.jsonl");
        } finally {
            world.descendants().forEach(ProcessHandle::destroyForcibly);
            world.destroyForcibly().waitFor();
        }
    }

    @Test
    @DisplayName(
            "D03 a result that finds no room is no result: its shard fails as infra, and is done once there is room")
    void results_without_room_are_made_again_once_there_is_room() throws Exception {
        Path small = Files.createDirectory(fleet.folder().resolve("small"));
        Sample job = new Sample(fleet.folder(), "full", 60_000, 5).written("", "shards: ranges");
        Process world = small(small, Files.size(job.input()) / 1024 + "k"); // an attempt takes twice its result
        try {
            List<String> there = List.of("nsenter", "-m", "-t", sleeper(world), "--");
            String dir = small.resolve("jobs/full").toString();
            Path inside = inside(world, Path.of(dir));
            fleet.withShortLeases().with("node.min_free", "0B");
            fleet.startUnder(there, "prepare", job.descriptor().toString(), "--job-dir", dir)
                    .endsWith(0);

            CaravanProcess worker = fleet.startUnder(there, "worker", "--job-dir", dir);
            worker.awaitLog("attempt failed (infra)");
            assertThat(worker.stderr()).contains("No space left on device");
            assertThat(names(inside.resolve("state/done"))).hasSizeBetween(1, 4);
            assertThat(names(inside.resolve("state/failed"))).isEmpty();

            run("nsenter", "-m", "-t", sleeper(world), "--", "mount", "-o", "remount,size=64m", small.toString());
            worker.endsWith(0);
            fleet.startUnder(there, "merge", "--job-dir", dir).endsWith(0);
            assertThat(Files.readString(inside.resolve("merged.jsonl")).equals(job.expected()))
                    .isTrue();
            fleet.startUnder(there, "verify", "--job-dir", dir).endsWith(0);
        } finally {
            world.descendants().forEach(ProcessHandle::destroyForcibly);
            world.destroyForcibly().waitFor();
        }
    }

    /** A process in a namespace where the folder is a file system of its own, with a folder for jobs. */
    private static Process small(Path folder, String size) throws IOException {
        Trick.withMount(
                folder.toString(), "-t", "tmpfs", "-o", "size=" + size, "tmpfs"); // skips where it cannot be had
        Process world = new ProcessBuilder(
                        "unshare",
                        "-m",
                        "--kill-child",
                        "-f",
                        "sh",
                        "-c",
                        "mount -t tmpfs -o size=" + size + " tmpfs '" + folder + "' && mkdir '" + folder
                                + "/jobs' && exec sleep 600")
                .start();
        Await.until(
                "the small disk is mounted",
                () -> Files.exists(inside(world, folder.resolve("jobs"))),
                folder::toString);
        return world;
    }

    /** The process in the namespace; the one that was started may be its parent. */
    private static String sleeper(Process world) {
        return String.valueOf(
                world.descendants().findFirst().map(ProcessHandle::pid).orElse(world.pid()));
    }

    private static Path inside(Process world, Path path) {
        return Path.of("/proc/" + sleeper(world) + "/root" + path);
    }

    private static List<String> names(Path folder) throws IOException {
        try (Stream<Path> entries = Files.list(folder)) {
            return entries.map(entry -> entry.getFileName().toString()).sorted().toList();
        }
    }

    private static void run(String... command) throws IOException, InterruptedException {
        assertThat(new ProcessBuilder(command).inheritIO().start().waitFor()).isZero();
    }
}
