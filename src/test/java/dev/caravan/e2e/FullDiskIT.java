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
        Trick.withMount(small.toString(), "-t", "tmpfs", "-o", "size=300k", "tmpfs"); // skips where it cannot be had
        Sample job = new Sample(fleet.folder(), "full", 8000, 10).written("", "shards: files");
        Process world = new ProcessBuilder(
                        "unshare",
                        "-m",
                        "--kill-child",
                        "-f",
                        "sh",
                        "-c",
                        "mount -t tmpfs -o size=300k tmpfs '" + small + "' && mkdir '" + small
                                + "/jobs' && exec sleep 600")
                .start();
        try {
            Await.until(
                    "the small disk is mounted",
                    () -> Files.exists(inside(world, small.resolve("jobs"))),
                    small::toString);
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
