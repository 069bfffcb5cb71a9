package dev.caravan.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Starts processes of the program for one test and ends those that are left after it. */
final class Fleet implements BeforeEachCallback, AfterEachCallback {
    private static final Path JAR = Path.of("target", "caravan.jar").toAbsolutePath();
    private static final Path JAVA = Path.of(System.getProperty("java.home"), "bin", "java");

    private final Map<String, String> settings = new LinkedHashMap<>();
    private final Map<String, String> environment = new HashMap<>();
    private final List<CaravanProcess> started = new ArrayList<>();
    private Path folder = Path.of("");

    /** Times at which nothing is taken over on a busy machine, and nobody waits longer than needed. */
    Fleet() {
        with("claim.heartbeat", "1s");
        with("claim.poll", "200ms");
        with("intake.settle", "200ms");
        with("retry.backoff", "100ms");
        with("retry.backoff_max", "500ms");
        with("retry.other_node_first", "100ms");
        with("node.drain", "1s");
        with("exec.grace", "2s");
    }

    /** A setting of all processes to come. */
    Fleet with(String key, String value) {
        settings.put(key, value);
        return this;
    }

    /** A setting that the processes to come take from elsewhere. */
    Fleet without(String key) {
        settings.remove(key);
        return this;
    }

    /** A dead node is noticed within seconds. */
    Fleet withShortLeases() {
        return with("claim.lease", "4s").with("claim.margin", "1s");
    }

    /** A variable of all processes to come. */
    Fleet withVariable(String name, String value) {
        environment.put(name, value);
        return this;
    }

    /** A folder of this test alone. */
    Path folder() {
        return folder;
    }

    CaravanProcess start(String... arguments) {
        return startUnder(List.of(), arguments);
    }

    /** @param wrapper a command that runs the rest of its arguments, such as {@code unshare} or {@code strace} */
    CaravanProcess startUnder(List<String> wrapper, String... arguments) {
        List<String> command = new ArrayList<>(wrapper);
        command.addAll(java());
        command.addAll(List.of(arguments));
        return startCommand("caravan " + String.join(" ", arguments), command);
    }

    private List<String> java() {
        assertThat(JAR).as("built by mvn package").exists();
        List<String> command = new ArrayList<>(List.of(JAVA.toString(), "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"));
        settings.forEach((key, value) -> command.add("-Dcaravan." + key + "=" + value));
        command.addAll(List.of("-jar", JAR.toString()));
        return command;
    }

    /** The program with the settings so far as one executable file, as launchers need it. */
    Path program() {
        Path file = folder.resolve("caravan");
        Sample.write(file, "#!/bin/sh\nexec " + String.join(" ", java()) + " \"$@\"\n");
        assertThat(file.toFile().setExecutable(true)).isTrue();
        return file;
    }

    /** Of a scheduler, as users have it. */
    static Path template(String name) {
        return Path.of("configs", "schedulers", name).toAbsolutePath();
    }

    /** Any command, such as a launcher that starts the program. */
    CaravanProcess startCommand(String called, List<String> command) {
        int number = started.size();
        Path stdout = folder.resolve("process-" + number + ".out");
        Path stderr = folder.resolve("process-" + number + ".err");
        ProcessBuilder builder = new ProcessBuilder(command)
                .directory(folder.toFile())
                .redirectOutput(stdout.toFile())
                .redirectError(stderr.toFile());
        builder.environment()
                .keySet()
                .removeIf(name -> name.startsWith("CARAVAN_") || name.endsWith("JOB_ID") || name.startsWith("JAVA_"));
        builder.environment().putAll(environment);
        try {
            CaravanProcess process = new CaravanProcess(called, builder.start(), stdout, stderr);
            started.add(process);
            return process;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** What processes need to be able to read. */
    static List<Path> programFiles() {
        return List.of(JAVA, JAR);
    }

    /** Runs a command to its end. */
    CaravanProcess run(String... arguments) {
        return start(arguments).ends();
    }

    @Override
    public void beforeEach(ExtensionContext context) throws IOException {
        folder = Files.createTempDirectory("caravan-e2e-").toRealPath();
    }

    @Override
    public void afterEach(ExtensionContext context) throws IOException {
        boolean failed = context.getExecutionException().isPresent();
        for (CaravanProcess process : started) {
            if (failed) {
                System.err.println(process);
            }
            process.kill();
        }
        if (!failed) {
            try (var files = Files.walk(folder)) {
                files.sorted(Comparator.reverseOrder()).forEach(Fleet::delete);
            }
        }
    }

    private static void delete(Path path) {
        try {
            Files.deleteIfExists(path);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
