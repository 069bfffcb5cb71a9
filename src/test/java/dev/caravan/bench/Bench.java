package dev.caravan.bench;

import static org.assertj.core.api.Assertions.assertThat;

import dev.caravan.e2e.Await;
import dev.caravan.exec.NoEngine;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A run of benchmarks.
 *
 * @param folder where they work
 * @param megabytes of input
 * @param shards of a large job
 * @param rounds how often each way is timed; the ways take turns
 */
record Bench(Path folder, int megabytes, int shards, int rounds) {
    private static final Path JAR = Path.of("target", "caravan.jar").toAbsolutePath();
    private static final Path PEER =
            Path.of("src", "test", "python", "bench_peer.py").toAbsolutePath();
    /** Says on its standard output what the rest of its arguments took. */
    private static final List<String> TIMED =
            List.of("bash", "-c", "TIMEFORMAT='%3R %3U %3S'; { time \"$@\" >/dev/null 2>&3; } 3>&2 2>&1", "bash");

    static final String JAVA =
            Path.of(System.getProperty("java.home"), "bin", "java").toString();

    /** A way to do the work; makes its own place free first, so that this is not timed. */
    @FunctionalInterface
    interface Way {
        List<String> prepared(int round) throws IOException;
    }

    /** @return the least cost of each way */
    Cost[] best(List<Way> ways) throws IOException {
        Cost[] best = new Cost[ways.size()];
        for (int round = 0; round < rounds; round++) {
            for (int way = 0; way < best.length; way++) {
                List<String> command = new ArrayList<>(TIMED);
                command.addAll(ways.get(way).prepared(round));
                String[] seconds = run(command, 0).strip().split(" ");
                Cost cost = new Cost(
                        Double.parseDouble(seconds[0]),
                        Double.parseDouble(seconds[1]) + Double.parseDouble(seconds[2]));
                best[way] = round == 0 ? cost : best[way].least(cost);
            }
        }
        return best;
    }

    /** The packaged program. */
    static List<String> caravan(Object... arguments) {
        return command(List.of(JAVA, "-jar", JAR.toString()), arguments);
    }

    /** The packaged program as it is started from its distribution archive, unpacked below a folder. */
    static List<String> installed(Path folder, Object... arguments) throws IOException {
        Path home = folder.resolve("caravan");
        if (!Files.exists(home)) {
            Path start = Files.createDirectories(home.resolve("bin")).resolve("caravan");
            Files.copy(Path.of("src", "main", "dist", "bin", "caravan"), start);
            Files.createSymbolicLink(home.resolve("caravan.jar"), JAR);
            Files.createSymbolicLink(home.resolve("lib"), JAR.resolveSibling("lib"));
        }
        return command(
                List.of("env", "XDG_CACHE_HOME=" + folder.resolve("cache"), "sh", home + "/bin/caravan"), arguments);
    }

    /** The first start of the installed program keeps its classes for the next ones, in the background. */
    void keepClasses(Path folder) throws IOException {
        run(installed(folder, "--version"));
        Path cache = folder.resolve("cache").resolve("caravan");
        Await.until("the classes are kept in " + cache, () -> {
            try (var names = Files.list(cache)) {
                List<String> kept = names.map(name -> name.getFileName().toString())
                        .filter(name -> name.startsWith("classes-"))
                        .toList();
                return kept.size() == 1 && kept.get(0).endsWith(".jsa");
            }
        });
    }

    /** The packaged program with an engine that starts no process and leaves an empty result of every shard. */
    static List<String> withoutEngine(Path folder, Object... arguments) throws IOException {
        Path routes = folder.resolve("routes");
        if (!Files.exists(routes)) {
            String exec = Files.readString(Path.of("routes", "exec.camel.yaml"));
            assertThat(exec).contains("#childExecutor");
            Files.createDirectory(routes);
            Files.writeString(
                    routes.resolve("exec.camel.yaml"),
                    exec.replace("#childExecutor", "#class:" + NoEngine.class.getName()));
        }
        return command(
                List.of(
                        JAVA,
                        "-XX:TieredStopAtLevel=1",
                        "-XX:+UseSerialGC",
                        "-Dcaravan.node.routes=" + routes,
                        "-Dcaravan.claim.poll=50ms",
                        "-Dcaravan.intake.settle=50ms",
                        "-cp",
                        JAR + ":" + Path.of("target", "test-classes").toAbsolutePath(),
                        "dev.caravan.Main"),
                arguments);
    }

    /** A list that a property names. */
    static List<String> list(String property, String byDefault) {
        return List.of(System.getProperty(property, byDefault).split(","));
    }

    static List<Integer> numbers(String property, String byDefault) {
        return list(property, byDefault).stream().map(Integer::valueOf).toList();
    }

    /** The peer's algorithm. */
    static List<String> peer(Object... arguments) {
        return command(List.of("python3", PEER.toString()), arguments);
    }

    static List<String> shell(String script) {
        return List.of("sh", "-c", script);
    }

    private static List<String> command(List<String> program, Object... arguments) {
        List<String> command = new ArrayList<>(program);
        for (Object argument : arguments) {
            command.add(argument.toString());
        }
        return command;
    }

    void run(List<String> command) throws IOException {
        run(command, 0);
    }

    /** Runs a command to its end. @return its standard output */
    String run(List<String> command, int exitCode) throws IOException {
        Path out = folder.resolve("command.out");
        Path err = folder.resolve("command.err");
        try {
            Process process = new ProcessBuilder(command)
                    .redirectOutput(out.toFile())
                    .redirectError(err.toFile())
                    .start();
            assertThat(process.waitFor())
                    .as(() -> command + "\n" + end(text(err)))
                    .isEqualTo(exitCode);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
        return text(out);
    }

    static String end(String log) {
        return log.substring(Math.max(0, log.length() - 4000));
    }

    private static String text(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
