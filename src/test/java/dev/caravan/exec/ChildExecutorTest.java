package dev.caravan.exec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import dev.caravan.Eventually;
import dev.caravan.exec.ChildBinding.ChildCommand;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.FutureTask;
import org.apache.camel.component.exec.ExecException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(120)
class ChildExecutorTest {
    private static final Duration NONE = Duration.ZERO;

    @TempDir
    Path folder;

    private final MarkedProcesses processes = new MarkedProcesses();
    private final CompletableFuture<String> stop = new CompletableFuture<>();
    private final Map<String, String> environment = new HashMap<>(processes.environment());
    private ChildExecutor executor = new ChildExecutor(Duration.ofSeconds(20));
    private Duration timeout = NONE;
    private Duration stallTimeout = NONE;
    private List<String> cleared = List.of();
    private Path log;

    @BeforeEach
    void log() {
        log = folder.resolve("process.log");
    }

    @AfterEach
    void endWhatIsLeft() {
        processes.alive().forEach(ProcessHandle::destroyForcibly);
    }

    private Child.End run(String... command) {
        ChildCommand child = new ChildCommand(new Child(
                List.of(command),
                folder.toString(),
                environment,
                cleared,
                log.toString(),
                timeout,
                stallTimeout,
                List.of(folder.resolve("output").toString()),
                null,
                stop));
        executor.execute(child);
        return child.end;
    }

    private Child.End shell(String script) {
        return run("sh", "-c", script);
    }

    /** Each background job has a process group of its own, as Ray gives its workers. */
    private Child.End shellWithGroups(String script) {
        return run("bash", "-c", "set -m; " + script);
    }

    private FutureTask<Child.End> inBackground(String script) {
        FutureTask<Child.End> task = new FutureTask<>(() -> run("bash", "-c", script));
        new Thread(task, "test-child").start();
        return task;
    }

    private void until(String file) throws Exception {
        Eventually.until("the child has written " + file, () -> Files.exists(folder.resolve(file)));
    }

    private void assertNothingIsLeft() throws Exception {
        // a killed process is gone a moment after the signal
        Eventually.until("nothing is left", () -> processes.alive().isEmpty());
    }

    @Test
    void a_child_ends_with_its_exit_code() {
        assertThat(shell("exit 0")).isEqualTo(new Child.End.Exited(0));
        assertThat(shell("exit 7")).isEqualTo(new Child.End.Exited(7));
    }

    @Test
    void a_child_that_a_signal_ended_tells_which() {
        assertThat(shell("kill -9 $$")).isEqualTo(new Child.End.Exited(128 + 9));
        assertThat(shell("kill -15 $$")).isEqualTo(new Child.End.Exited(128 + 15));
    }

    @Test
    void output_and_errors_are_appended_to_the_log_in_order() throws IOException {
        Files.writeString(log, "before\n");
        shell("echo one; echo two >&2; echo three");

        assertThat(log).hasContent("before\none\ntwo\nthree\n");
    }

    @Test
    void arguments_reach_the_child_as_they_are() throws IOException {
        run("printf", "%s|", "a b", "$HOME", "", "'\"*", "-x");

        assertThat(log).hasContent("a b|$HOME||'\"*|-x|");
    }

    @Test
    void a_child_has_an_empty_standard_input_and_no_other_descriptor() throws IOException {
        assertThat(shell("cat; ls -l /proc/$$/fd; exit 0")).isEqualTo(new Child.End.Exited(0));
        assertThat(Files.readString(log)).contains("/dev/null").doesNotContain("pipe:");
    }

    @Test
    void a_child_works_in_its_directory() throws IOException {
        run("pwd");

        assertThat(log).hasContent(folder.toRealPath() + "\n");
    }

    @Test
    void a_program_that_does_not_exist_ends_with_127() {
        assertThat(run("/no/such/program")).isEqualTo(new Child.End.Exited(127));
    }

    @Test
    void what_cannot_be_started_at_all_says_what() throws IOException {
        log = folder.resolve("missing/process.log");

        assertThatThrownBy(() -> run("true"))
                .isInstanceOf(ExecException.class)
                .hasMessageContaining("Unable to start true");
    }

    @Test
    void the_environment_is_inherited_but_for_what_is_cleared_and_added() throws IOException {
        List<String> inherited = System.getenv().keySet().stream()
                .filter(name -> name.matches("[A-Z]{4,}") && !name.equals("PATH") && !name.startsWith("PWD"))
                .sorted()
                .toList();
        assertThat(inherited).as("variables of this process").hasSizeGreaterThanOrEqualTo(2);
        String exact = inherited.get(0);
        String prefixed = inherited.get(1);
        cleared = List.of(exact, prefixed.substring(0, prefixed.length() - 1) + "*", "PAT");
        environment.put("ADDED", "with = and space");
        run("env");

        List<String> lines = Files.readAllLines(log);
        assertThat(lines).contains("ADDED=with = and space", "PATH=" + System.getenv("PATH"));
        assertThat(lines).noneMatch(line -> line.startsWith(exact + "=") || line.startsWith(prefixed + "="));
    }

    @Test
    void what_is_cleared_may_be_set_anew() throws IOException {
        cleared = List.of("HOM*");
        environment.put("HOME", "/elsewhere");
        run("env");

        assertThat(Files.readAllLines(log)).contains("HOME=/elsewhere");
    }

    @Test
    void a_large_output_goes_to_the_log_and_not_through_memory() throws IOException {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long before = threads.getCurrentThreadAllocatedBytes();
        run("head", "-c", "104857600", "/dev/zero");

        assertThat(Files.size(log)).isEqualTo(104_857_600);
        assertThat(threads.getCurrentThreadAllocatedBytes() - before).isLessThan(10_000_000);
    }

    @Test
    void what_a_child_leaves_behind_ends_with_it() throws Exception {
        assertThat(shell("sleep 1000 & nohup sleep 1001 >/dev/null 2>&1 & exit 3"))
                .isEqualTo(new Child.End.Exited(3));
        assertNothingIsLeft();
    }

    @Test
    void process_groups_that_a_child_leaves_behind_end_with_it() throws Exception {
        assertThat(shellWithGroups("sleep 1000 & sleep 1001 & exit 0")).isEqualTo(new Child.End.Exited(0));
        assertNothingIsLeft();
    }

    @Test
    void a_child_that_takes_too_long_is_ended_with_all_its_process_groups() throws Exception {
        timeout = Duration.ofMillis(100);

        assertThat(shellWithGroups("(sleep 1000; true) & sleep 1001 & wait")).isEqualTo(new Child.End.TimedOut());
        assertNothingIsLeft();
    }

    @Test
    void orphans_in_groups_of_their_own_that_ignore_the_polite_signal_are_ended_too() throws Exception {
        FutureTask<Child.End> child =
                inBackground("set -m; (trap '' TERM; sleep 1000 & sleep 1001 & touch ready) & wait; sleep 1000");
        until("ready");
        stop.complete("enough");

        assertThat(child.get()).isEqualTo(new Child.End.Stopped("enough"));
        assertNothingIsLeft();
    }

    @Test
    void sessions_that_a_child_made_are_ended_with_it_even_if_they_ignore_the_polite_signal() throws Exception {
        executor = new ChildExecutor(Duration.ofMillis(500));
        FutureTask<Child.End> child =
                inBackground("setsid sh -c \"trap '' TERM; touch ready; while :; do sleep 0.01; done\" & wait");
        until("ready");
        stop.complete("enough");

        assertThat(child.get()).isEqualTo(new Child.End.Stopped("enough"));
        assertNothingIsLeft();
    }

    @Test
    void a_child_may_clean_up_before_it_is_killed() throws Exception {
        timeout = Duration.ofMillis(100);
        long began = System.nanoTime();

        assertThat(shell("trap 'echo cleaned; exit 0' TERM; while :; do sleep 0.1; done"))
                .isEqualTo(new Child.End.TimedOut());
        assertThat(Files.readString(log)).contains("cleaned");
        assertThat(System.nanoTime() - began).isLessThan(Duration.ofSeconds(20).toNanos());
        assertNothingIsLeft();
    }

    @Test
    void a_child_that_ignores_the_polite_signal_is_killed_after_the_grace() throws Exception {
        executor = new ChildExecutor(Duration.ofMillis(700));
        FutureTask<Child.End> child =
                inBackground("trap '' TERM; (trap '' TERM; sleep 1000) & touch ready; while :; do sleep 1000; done");
        until("ready");
        long began = System.nanoTime();
        stop.complete("enough");

        assertThat(child.get()).isEqualTo(new Child.End.Stopped("enough"));
        assertThat(System.nanoTime() - began)
                .isGreaterThanOrEqualTo(Duration.ofMillis(700).toNanos());
        assertNothingIsLeft();
    }

    @Test
    void a_child_whose_log_and_output_stand_still_has_stalled() throws Exception {
        stallTimeout = Duration.ofMillis(1500);

        assertThat(shell("echo hello; sleep 1000")).isEqualTo(new Child.End.Stalled());
        assertNothingIsLeft();
    }

    @Test
    void a_child_whose_output_grows_has_not_stalled() {
        stallTimeout = Duration.ofMillis(2500);

        assertThat(shell("mkdir output; for i in 1 2 3 4 5 6 7 8 9 10; do echo $i >> output/part; sleep 0.5; done"))
                .isEqualTo(new Child.End.Exited(0));
    }

    @Test
    void a_child_is_stopped_when_told() throws Exception {
        FutureTask<Child.End> child = inBackground("touch ready; sleep 1000");
        until("ready");
        stop.complete("the lease is lost");

        assertThat(child.get()).isEqualTo(new Child.End.Stopped("the lease is lost"));
        assertNothingIsLeft();
    }

    @Test
    void a_child_that_was_stopped_before_its_start_is_ended() throws Exception {
        stop.complete("too late");

        assertThat(shell("sleep 1000")).isEqualTo(new Child.End.Stopped("too late"));
        assertNothingIsLeft();
    }

    @Test
    void closing_ends_running_and_later_children() throws Exception {
        FutureTask<Child.End> child = inBackground("touch ready; sleep 1000");
        until("ready");
        executor.close();

        assertThat(child.get()).isEqualTo(new Child.End.Stopped(ChildExecutor.SHUTDOWN));
        CompletableFuture<String> another = new CompletableFuture<>();
        ChildCommand later = new ChildCommand(new Child(
                List.of("sleep", "1000"),
                folder.toString(),
                environment,
                cleared,
                log.toString(),
                NONE,
                NONE,
                List.of(),
                null,
                another));
        executor.execute(later);
        assertThat(later.end).isEqualTo(new Child.End.Stopped(ChildExecutor.SHUTDOWN));
        assertNothingIsLeft();
    }

    @Test
    void an_interrupted_thread_ends_its_child_and_stays_interrupted() throws Exception {
        CompletableFuture<Boolean> stillInterrupted = new CompletableFuture<>();
        CompletableFuture<Child.End> end = new CompletableFuture<>();
        Thread thread = new Thread(() -> {
            end.complete(shell("touch ready; sleep 1000"));
            stillInterrupted.complete(Thread.currentThread().isInterrupted());
        });
        thread.start();
        until("ready");
        thread.interrupt();

        assertThat(end.get()).isEqualTo(new Child.End.Stopped("interrupted"));
        assertThat(stillInterrupted.get()).isTrue();
        assertNothingIsLeft();
    }

    @Test
    void a_process_that_is_killed_leaves_no_child() throws Exception {
        Process jvm = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin/java").toString(),
                        "-Xmx64m",
                        "-cp",
                        System.getProperty("java.class.path"),
                        KilledJvm.class.getName(),
                        processes.mark,
                        log.toString(),
                        "exec bash -c \"set -m; trap '' TERM HUP; sleep 1000 & sleep 1001 & wait\"")
                .redirectErrorStream(true)
                .redirectOutput(folder.resolve("jvm.log").toFile())
                .start();
        Eventually.until(
                "the child and its children run",
                () -> processes.alive().stream()
                                .filter(process ->
                                        process.info().command().orElse("").endsWith("sleep"))
                                .count()
                        == 2);
        jvm.destroyForcibly().waitFor();

        assertNothingIsLeft();
    }
}
