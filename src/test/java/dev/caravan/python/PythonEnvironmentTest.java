package dev.caravan.python;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(value = 2, unit = TimeUnit.MINUTES)
class PythonEnvironmentTest {
    private static final Path SOURCES = Path.of("src/main/python");
    private static final String TOOLS = "/usr/bin:/bin";

    @TempDir
    Path folder;

    private Path cache() {
        return folder.resolve("cache");
    }

    private PythonEnvironment managed(Path programs) {
        return new PythonEnvironment("", cache(), Map.of("PATH", programs + ":" + TOOLS));
    }

    private List<String> cached() throws IOException {
        try (Stream<Path> entries = Files.list(cache())) {
            return entries.map(path -> path.getFileName().toString()).sorted().toList();
        }
    }

    @Test
    void every_python_file_is_packaged() throws IOException {
        Path runner = SOURCES.resolve(RunnerFiles.PACKAGE);
        try (Stream<Path> files = Files.walk(runner)) {
            assertThat(files.map(path -> runner.relativize(path).toString()).filter(name -> name.endsWith(".py")))
                    .as("RunnerFiles.MODULES must name each file in " + runner)
                    .containsExactlyInAnyOrderElementsOf(RunnerFiles.MODULES);
        }
        for (String lock : List.of(RunnerFiles.LOCK, RunnerFiles.BOOTSTRAP_LOCK)) {
            assertThat(RunnerFiles.read(lock)).isEqualTo(Files.readAllBytes(SOURCES.resolve(lock)));
        }
    }

    @Test
    void the_locks_name_no_host_and_have_a_hash_for_each_package() throws IOException {
        for (String lock : List.of(RunnerFiles.LOCK, RunnerFiles.BOOTSTRAP_LOCK)) {
            List<String> lines = Files.readAllLines(SOURCES.resolve(lock));
            assertThat(lines).noneMatch(line -> line.contains("://") || line.contains("index-url"));
            for (int i = 0; i < lines.size(); i++) {
                if (lines.get(i).contains("==")) {
                    assertThat(lines.get(i + 1)).startsWith("    --hash=sha256:");
                }
            }
        }
    }

    @Test
    void the_runner_is_unpacked_once_however_many_ask() throws Exception {
        PythonEnvironment environment = PythonEnvironment.of("python3", cache());
        List<Path> folders = together(8, environment::runnerFolder);

        assertThat(folders.stream().distinct()).hasSize(1);
        assertThat(cached()).containsExactly(folders.get(0).getFileName().toString());
        for (String module : RunnerFiles.MODULES) {
            assertThat(folders.get(0).resolve("caravan_runner").resolve(module))
                    .hasSameBinaryContentAs(SOURCES.resolve("caravan_runner").resolve(module));
        }
    }

    @Test
    void a_configured_interpreter_is_asked_and_its_lack_is_named() {
        String python = System.getenv("PATH").lines().findFirst().isPresent() ? "python3" : "";
        PythonEnvironment environment = new PythonEnvironment(
                python, cache(), Map.of("PATH", System.getenv("PATH"), "PYTHONNOUSERSITE", "1", "PYTHONPATH", ""));

        assertThat(environment.executable()).isAbsolute().isExecutable();
        assertThatThrownBy(() -> environment.setup(line -> {}))
                .isInstanceOf(PythonException.class)
                .hasMessageContaining("has no package")
                .hasMessageContaining("caravan python setup")
                .hasMessageContaining("python.executable");
    }

    @Test
    void a_configured_interpreter_that_is_not_there_is_named() throws IOException {
        Path text = Files.writeString(folder.resolve("notes.txt"), "not a program");

        assertThatThrownBy(() -> PythonEnvironment.of("no-such-python", cache()).executable())
                .hasMessage("python.executable: there is no no-such-python on the PATH");
        assertThatThrownBy(
                        () -> PythonEnvironment.of("/no/such/python", cache()).info())
                .hasMessageContaining(
                        "python.executable: expected a Python interpreter, found nothing at /no/such/python");
        assertThatThrownBy(() -> PythonEnvironment.of(text.toString(), cache()).info())
                .hasMessageContaining("something that cannot be executed at " + text);
    }

    @Test
    void without_any_python_the_message_says_what_to_install() {
        PythonEnvironment environment = new PythonEnvironment("", cache(), Map.of("PATH", folder.toString()));

        assertThatThrownBy(() -> environment.setup(line -> {}))
                .isInstanceOf(PythonException.class)
                .hasMessageContaining("expected Python 3.10 to 3.13")
                .hasMessageContaining("found none")
                .hasMessageContaining("python.executable");
        assertThat(cache()).doesNotExist();
    }

    @Test
    void a_python_that_does_not_do_is_named_with_the_reason() throws IOException {
        Path old = new StandInPython(folder.resolve("old"))
                .thatInstalls("3.8", null)
                .folder();
        Path bare =
                new StandInPython(folder.resolve("bare")).thatHasNoVenv("3.12").folder();

        assertThatThrownBy(() -> new PythonEnvironment("", cache(), Map.of("PATH", old.toString())).setup(line -> {}))
                .hasMessageContaining(old.resolve("python3") + " is Python 3.8");
        assertThatThrownBy(() -> new PythonEnvironment("", cache(), Map.of("PATH", bare.toString())).setup(line -> {}))
                .hasMessageContaining("(3.12) has no venv module")
                .hasMessageContaining("apt install python3.12-venv");
    }

    @Test
    void an_environment_that_was_never_made_is_not_made_by_asking() throws IOException {
        StandInPython programs = new StandInPython(folder.resolve("bin")).thatInstalls("3.11", null);

        assertThatThrownBy(() -> managed(programs.folder()).info())
                .isInstanceOf(PythonException.class)
                .hasMessageContaining("not set up: run caravan python setup");
        assertThat(programs.journal()).isEmpty();
    }

    @Test
    void many_at_once_in_two_processes_make_one_environment() throws Exception {
        Path gate = folder.resolve("somebody-waits");
        StandInPython programs = new StandInPython(folder.resolve("bin")).thatInstalls("3.11", gate);
        List<String> said = Collections.synchronizedList(new ArrayList<>());
        Process other = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        Setup.class.getName(),
                        cache().toString(),
                        programs.folder() + ":" + TOOLS,
                        gate.toString())
                .inheritIO()
                .start();

        List<PythonInfo> infos = together(
                3,
                () -> managed(programs.folder()).setup(line -> {
                    said.add(line);
                    openWhenWaiting(line, gate);
                }));

        assertThat(other.waitFor()).isZero();
        assertThat(programs.journal()).containsExactly("installed");
        assertThat(infos).allMatch(info -> info.dataJuicer().equals("1.6.1"));
        assertThat(gate).as("somebody had to wait and said so").exists();
        assertThat(cached().stream().filter(name -> name.contains("building"))).isEmpty();
    }

    /** The other process. */
    static final class Setup {
        public static void main(String[] args) {
            new PythonEnvironment("", Path.of(args[0]), Map.of("PATH", args[1]))
                    .setup(line -> openWhenWaiting(line, Path.of(args[2])));
        }
    }

    private static void openWhenWaiting(String line, Path gate) {
        if (line.startsWith("waiting for another process")) {
            try {
                Files.write(gate, new byte[0]);
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    @Test
    void what_a_killed_setup_left_is_never_used_and_removed() throws IOException {
        StandInPython programs = new StandInPython(folder.resolve("bin")).thatInstalls("3.11", null);
        List<String> said = new ArrayList<>();
        managed(programs.folder()).setup(said::add);
        assertThat(said)
                .anyMatch(line -> line.contains("step 3 of 3"))
                .anyMatch(line -> line.contains("Installed 115"));
        Path made = cache().resolve(cached().stream()
                .filter(name -> name.matches("python-[0-9a-f]+"))
                .findFirst()
                .orElseThrow());
        Files.delete(made.resolve("complete"));
        Path unfinished = Files.createDirectories(
                made.resolveSibling(made.getFileName() + ".building-1").resolve("venv/bin"));
        Files.writeString(unfinished.resolve("python"), "");

        assertThatThrownBy(() -> managed(programs.folder()).info()).hasMessageContaining("not set up");
        managed(programs.folder()).setup(line -> {});

        assertThat(programs.journal()).containsExactly("installed", "installed");
        assertThat(made.resolve("complete")).exists();
        assertThat(cached().stream().filter(name -> name.contains("building"))).isEmpty();
    }

    @Test
    void a_failed_step_shows_what_it_said_and_what_to_do() throws IOException {
        StandInPython programs = new StandInPython(folder.resolve("bin")).thatInstalls("3.11", null);
        Files.writeString(
                programs.folder().resolve("uv-program"),
                "#!/bin/sh\n[ $1 = venv ] || { echo 'error: no route to host' >&2; exit 2; }\n");

        assertThatThrownBy(() -> managed(programs.folder()).setup(line -> {}))
                .isInstanceOf(PythonException.class)
                .hasMessageContaining("ended with 2")
                .hasMessageContaining("error: no route to host")
                .hasMessageContaining("PIP_INDEX_URL")
                .hasMessageContaining("python.executable");
        assertThat(cached()).allMatch(name -> name.endsWith(".lock"));
    }

    private static <T> List<T> together(int threads, Callable<T> action) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        try {
            List<T> results = new ArrayList<>();
            for (Future<T> future : pool.invokeAll(Collections.nCopies(threads, action))) {
                results.add(future.get());
            }
            return results;
        } finally {
            pool.shutdownNow();
        }
    }
}
