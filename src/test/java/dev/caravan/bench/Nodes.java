package dev.caravan.bench;

import static org.assertj.core.api.Assertions.assertThat;

import dev.caravan.e2e.Await;
import dev.caravan.shard.DoneRecord;
import dev.caravan.shard.ShardId;
import dev.caravan.store.JobFiles;
import dev.caravan.store.Layout;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;

/** Node processes at one root, whose engine does nothing; they stay for many jobs. */
final class Nodes implements AutoCloseable {
    private final Path folder;
    private final Layout.Root seen;
    private final List<Process> processes = new ArrayList<>();

    private Nodes(Path folder, Layout.Root seen) {
        this.folder = folder;
        this.seen = seen;
    }

    /** Returns when all are there. */
    static Nodes start(Place.Open place, int count, Path folder) throws IOException {
        Nodes nodes = new Nodes(folder, new Layout.Root(place.seen().resolve("root")));
        Files.createDirectories(nodes.seen.inbox());
        try {
            for (int node = 1; node <= count; node++) {
                List<String> command = new ArrayList<>(place.wrapper(node));
                command.addAll(Bench.withoutEngine(
                        folder, "node", "--root", place.shared().resolve("root")));
                nodes.processes.add(new ProcessBuilder(command)
                        .redirectErrorStream(true)
                        .redirectOutput(nodes.log(node).toFile())
                        .start());
            }
            Await.until(count + " nodes are there", () -> nodes.requireAlive() && nodes.present() == count);
            return nodes;
        } catch (IOException | RuntimeException | Error e) {
            nodes.close();
            throw e;
        }
    }

    private Path log(int node) {
        return folder.resolve("node-" + node + ".log");
    }

    private long present() throws IOException {
        if (!Files.exists(seen.nodes())) {
            return 0;
        }
        try (var names = Files.list(seen.nodes())) {
            return names.filter(name -> name.toString().endsWith(".json")).count();
        }
    }

    /** Has the nodes work through a job of so many shards of one record. @return what each claim cost */
    Cost drain(int shards) throws IOException {
        String name = "drain-" + shards + "-" + System.nanoTime();
        Path descriptor = Files.writeString(folder.resolve("." + name), descriptor(folder, name, shards));
        Path dropped = Files.copy(descriptor, seen.inbox().resolve("." + name));
        Files.move(dropped, seen.inbox().resolve(name + ".yaml"), StandardCopyOption.ATOMIC_MOVE);
        Layout.Job job = seen.job(name);
        await(() -> Files.exists(job.manifest()));
        Duration before = processorTime();
        await(() -> isFinalizing(job));
        Duration after = processorTime();
        await(() -> Files.exists(job.mergeRecord()));
        assertThat(new JobFiles(job).merged().orElseThrow().rows()).isZero();
        return new Cost(seconds(span(new JobFiles(job), shards)) / shards, seconds(after.minus(before)) / shards);
    }

    static String descriptor(Path folder, String name, int shards) throws IOException {
        Path input = folder.resolve(shards + ".jsonl");
        if (!Files.exists(input)) {
            Files.writeString(input, "{}\n".repeat(shards));
        }
        return """
                name: %s
                engine: command
                command: [none, "{input}", "{output}"]
                dataset_path: %s
                num_shards: %d
                """.formatted(name, input, shards);
    }

    private static boolean isFinalizing(Layout.Job job) throws IOException {
        try (var files = Files.walk(job.coordination(), 2)) {
            return files.anyMatch(file -> file.getFileName().toString().startsWith("finalize"));
        }
    }

    /** From the first claim to the last result. */
    private static Duration span(JobFiles job, int shards) {
        Instant first = Instant.MAX;
        Instant last = Instant.MIN;
        for (int index = 0; index < shards; index++) {
            DoneRecord done = job.done(new ShardId(index, shards)).orElseThrow();
            Instant ended = Instant.parse(done.finishedAt());
            Instant began = ended.minusNanos((long) (done.seconds() * 1e9));
            first = began.isBefore(first) ? began : first;
            last = ended.isAfter(last) ? ended : last;
        }
        return Duration.between(first, last);
    }

    private Duration processorTime() {
        return processes.stream()
                .map(process -> process.info().totalCpuDuration().orElseThrow())
                .reduce(Duration.ZERO, Duration::plus);
    }

    private static double seconds(Duration duration) {
        return duration.toNanos() / 1e9;
    }

    /** Without a limit: how long the work takes is what is to be found out. */
    private void await(Callable<Boolean> event) throws IOException {
        try {
            while (!event.call()) {
                requireAlive();
                Thread.sleep(20);
            }
        } catch (IOException | RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private boolean requireAlive() throws IOException {
        for (int node = 1; node <= processes.size(); node++) {
            if (!processes.get(node - 1).isAlive()) {
                throw new AssertionError("a node ended: " + Bench.end(Files.readString(log(node))));
            }
        }
        return true;
    }

    @Override
    public void close() {
        processes.forEach(Process::destroyForcibly);
        processes.forEach(process -> process.onExit().join());
    }
}
