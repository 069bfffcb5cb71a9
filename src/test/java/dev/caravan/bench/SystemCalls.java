package dev.caravan.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Counts system calls about names, attributes and durability: those that a network mount has to answer. */
final class SystemCalls {
    private static final String WANTED = "trace=%file,fsync,fdatasync,getdents64,ftruncate";

    private SystemCalls() {}

    /** Of one node that drains a job, about files of the job. */
    static long ofDraining(Place.Open place, int shards, Path folder) throws IOException {
        Path own = Files.createTempDirectory(folder, "counted-");
        Bench bench = new Bench(own, 0, shards, 1);
        Path descriptor = Files.writeString(own.resolve("job.yaml"), Nodes.descriptor(own, "counted", shards));
        Path job = place.shared().resolve("counted");
        bench.run(onMount(place, Bench.caravan("prepare", descriptor, "--job-dir", job)));
        Path count = own.resolve("count");
        List<String> strace = new ArrayList<>(List.of("strace", "-f", "--seccomp-bpf", "-y", "-e", WANTED, "-o"));
        strace.add("|grep -c -F '" + job + "/' >'" + count + "'");
        strace.addAll(Bench.withoutEngine(own, "worker", "--job-dir", job));
        bench.run(onMount(place, strace));
        try (var results = Files.list(place.seen().resolve("counted/state/done"))) {
            assertThat(results).hasSize(shards);
        }
        return Long.parseLong(Files.readString(count).strip());
    }

    private static List<String> onMount(Place.Open place, List<String> command) {
        List<String> all = new ArrayList<>(place.wrapper(1));
        all.addAll(command);
        return all;
    }
}
