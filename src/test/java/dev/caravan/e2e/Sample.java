package dev.caravan.e2e;

import dev.caravan.shard.Claim;
import dev.caravan.shard.ShardId;
import dev.caravan.store.Layout;
import dev.caravan.store.LeaseStore;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * A job of engine {@code command} in a test's folder: rows, a shell script that runs once per shard, a descriptor.
 *
 * <p>The script is handed input, output, shard id, attempt directory and the test's folder as {@code $1} to {@code $5}.
 * Each run of it is a line {@code <shard> <pid> <attempt>} of {@link #runs}; then what the test asks for happens; at last
 * the input is written to the output with each {@code red} made {@code blue}.
 */
record Sample(Path folder, String name, int rows, int shards) {
    private static final String WORK = """
            echo "$3 $$ ${4##*/}" >> "$5/runs.txt"
            %s
            sed 's/red/blue/' "$1" > "$2"
            """;

    Path input() {
        return folder.resolve(name + "-rows.jsonl");
    }

    Path descriptor() {
        return folder.resolve(name + ".yaml");
    }

    Path root() {
        return folder.resolve("root");
    }

    /** Of the job as the inbox makes it. */
    Layout.Job inRoot() {
        return new Layout.Root(root()).job(name);
    }

    /** Of the job as {@code run} and {@code prepare} make it. */
    Layout.Job inOwnDirectory() {
        return new Layout.Job(folder.resolve("jobs").resolve(name));
    }

    String jobDir() {
        return inOwnDirectory().path().toString();
    }

    /** @param extra lines of shell before the output is written */
    Sample written(String extra, String... fields) {
        write(input(), IntStream.range(0, rows).mapToObj(Sample::row).collect(Collectors.joining()));
        write(script(), WORK.formatted(extra));
        write(descriptor(), yaml(fields));
        return this;
    }

    String yaml(String... fields) {
        return Stream.concat(
                        Stream.of(
                                "name: " + name,
                                "engine: command",
                                "command: [sh, '%s', '{input}', '{output}', '{shard}', '{attempt_dir}', '%s']"
                                        .formatted(script(), folder),
                                "dataset_path: " + input(),
                                "num_shards: " + shards),
                        Arrays.stream(fields))
                .collect(Collectors.joining("\n", "", "\n"));
    }

    private Path script() {
        return folder.resolve(name + ".sh");
    }

    /** Numbers, escapes and key order that a careless copy would change. */
    private static String row(int i) {
        return "{\"id\": %d, \"colour\":\"red\", \"n\": 1.%d0e+2, \"text\":\"caf\\u00e9 \\/ “%s”\"}\n"
                .formatted(i, i % 10, "x".repeat(i % 17));
    }

    /** What the merged file must be. */
    String expected() {
        return read(input()).replace("red", "blue");
    }

    List<String> runs() {
        Path runs = folder.resolve("runs.txt");
        return Files.exists(runs) ? read(runs).lines().toList() : List.of();
    }

    /** Of the script's first run for a shard. */
    long pidOfRun(String shard, String attemptPrefix) {
        return runs().stream()
                .map(run -> run.split(" "))
                .filter(run -> run[0].equals(shard) && run[2].startsWith(attemptPrefix))
                .mapToLong(run -> Long.parseLong(run[1]))
                .findFirst()
                .orElseThrow();
    }

    boolean hasRun(String shard, String attemptPrefix) {
        return runs().stream().anyMatch(run -> run.startsWith(shard + " ") && run.contains(" " + attemptPrefix));
    }

    String shard(int index) {
        return new ShardId(index, shards).toString();
    }

    static Optional<Claim> claim(Layout.Job job, String key, long epoch) {
        try {
            return new LeaseStore(job.locks()).look(key, epoch).flatMap(LeaseStore.Sight::claim);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** A zombie that nobody collects is gone too. */
    static boolean isGone(long pid) {
        try {
            String stat = Files.readString(Path.of("/proc/" + pid + "/stat"), StandardCharsets.ISO_8859_1);
            return stat.charAt(stat.lastIndexOf(')') + 2) == 'Z';
        } catch (IOException gone) {
            return true;
        }
    }

    static String read(Path file) {
        try {
            return Files.readString(file, StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static void write(Path file, String text) {
        try {
            Files.createDirectories(file.getParent());
            Files.writeString(file, text, StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static List<String> names(Path directory) {
        try (var entries = Files.list(directory)) {
            return entries.map(entry -> entry.getFileName().toString()).sorted().toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
