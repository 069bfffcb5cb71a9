package dev.caravan.exec;

import static org.assertj.core.api.Assertions.assertThat;

import dev.caravan.Eventually;
import dev.caravan.exec.ChildBinding.ChildCommand;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Runners are played by a shell that writes down its pid and does what the request asks for. */
@Timeout(120)
class WarmRunnersTest {
    private static final String SHELL = """
            sleep 1000 & sleep 1000 &
            while read -r line; do
              echo $$ >> "$PIDS"
              case "$line" in
                *fail*) echo '{"id": 1, "status": 3}' ;;
                *die*) kill -9 $$ ;;
                *quit*) exit 0 ;;
                *hang*) sleep 1000 ;;
                *) echo '{"id": 1, "status": 0}' ;;
              esac
            done
            kill $(jobs -p)
            """;

    @TempDir
    Path folder;

    private final MarkedProcesses processes = new MarkedProcesses();
    private final Map<String, String> environment = new HashMap<>(processes.environment());
    private final ChildExecutor executor = new ChildExecutor(Duration.ofSeconds(20));
    private CompletableFuture<String> stop = new CompletableFuture<>();
    private Duration timeout = Duration.ZERO;

    @BeforeEach
    void where_runners_write_down_their_pids() {
        environment.put("PIDS", folder.resolve("pids").toString());
    }

    @AfterEach
    void nothing_is_left() throws Exception {
        executor.close();
        Eventually.until("nothing is left", () -> processes.alive().isEmpty());
    }

    private Child.End run(String identity, String work) {
        ChildCommand child = new ChildCommand(new Child(
                List.of("bash", "-c", SHELL),
                folder.toString(),
                environment,
                List.of(),
                folder.resolve("process.log").toString(),
                timeout,
                Duration.ZERO,
                List.of(),
                new Child.Warm(identity, ("{\"work\": \"" + work + "\"}").getBytes(StandardCharsets.UTF_8)),
                stop));
        executor.execute(child);
        return child.end;
    }

    /** Of the runner of each request so far. */
    private List<String> pids() throws IOException {
        return Files.readAllLines(folder.resolve("pids"));
    }

    @Test
    void requests_of_one_identity_go_to_one_runner() throws IOException {
        for (int i = 0; i < 5; i++) {
            assertThat(run("a", "x")).isEqualTo(new Child.End.Exited(0));
        }
        assertThat(pids()).hasSize(5).containsOnly(pids().get(0));
    }

    @Test
    void a_child_of_another_identity_takes_the_place_of_the_idle_runner() throws Exception {
        run("a", "x");
        run("b", "x");
        run("a", "x");

        assertThat(pids()).doesNotHaveDuplicates();
        long alone = Long.parseLong(pids().get(2));
        assertThat(ProcessHandle.of(Long.parseLong(pids().get(0)))).isEmpty();
        assertThat(ProcessHandle.of(alone)).isPresent();
    }

    @Test
    void a_runner_that_reports_a_failure_is_replaced() throws IOException {
        run("a", "x");
        assertThat(run("a", "fail")).isEqualTo(new Child.End.Exited(3));
        run("a", "x");

        assertThat(pids().get(1)).isEqualTo(pids().get(0));
        assertThat(pids().get(2)).isNotEqualTo(pids().get(0));
    }

    @Test
    void a_runner_that_dies_at_work_tells_how_and_never_looks_like_a_success() {
        assertThat(run("a", "die")).isEqualTo(new Child.End.Exited(128 + 9));
        assertThat(run("a", "quit")).isEqualTo(new Child.End.Exited(1));
    }

    @Test
    void a_runner_that_died_idle_is_not_asked() throws Exception {
        run("a", "x");
        long pid = Long.parseLong(pids().get(0));
        ProcessHandle.of(pid).orElseThrow().destroyForcibly();
        Eventually.until("it is gone", () -> ProcessHandle.of(pid).isEmpty());

        assertThat(run("a", "x")).isEqualTo(new Child.End.Exited(0));
    }

    @Test
    void a_shard_that_takes_too_long_ends_the_runner() throws Exception {
        timeout = Duration.ofSeconds(1);
        assertThat(run("a", "hang")).isEqualTo(new Child.End.TimedOut());
        Eventually.until("nothing is left", () -> processes.alive().isEmpty());
    }

    @Test
    void a_lost_lease_ends_the_runner() throws Exception {
        FutureTask<Child.End> task = new FutureTask<>(() -> run("a", "hang"));
        new Thread(task, "test-child").start();
        Eventually.until("it works", () -> Files.exists(folder.resolve("pids")));
        stop.complete("the lease is lost");

        assertThat(task.get()).isEqualTo(new Child.End.Stopped("the lease is lost"));
        Eventually.until("nothing is left", () -> processes.alive().isEmpty());
        stop = new CompletableFuture<>();
        assertThat(run("a", "x")).isEqualTo(new Child.End.Exited(0));
    }

    @Test
    void a_node_that_leaves_ends_idle_runners() throws Exception {
        run("a", "x");
        executor.close();

        Eventually.until("nothing is left", () -> processes.alive().isEmpty());
    }
}
