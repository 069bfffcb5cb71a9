package dev.caravan.exec;

import com.fasterxml.jackson.databind.JsonNode;
import dev.caravan.store.Json;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.OutputStreamWriter;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A process that works through requests one after the other, one JSON line each way: {@code caravan_runner serve}. One
 * request at a time. It ends by itself, with everything it started, when its standard input closes; should it hang when
 * this process is gone, a shell in its session ends it.
 */
final class WarmRunner {
    private static final Logger LOG = LoggerFactory.getLogger(WarmRunner.class);

    /** Standard input is the protocol's, so the leash looks whether the parent is there; the runner has time to end. */
    private static final String LEASH = ChildProcess.DEAF_TO_USR1
            + "( while kill -0 $PPID; do sleep 1; done; sleep 20; pkill -KILL -s $$; kill -9 -$$ ) </dev/null >/dev/null 2>&1 & exec \"$@\"";

    private static final Duration LAST_WORDS = Duration.ofSeconds(2);

    private final String identity;
    private final String devices;
    private final Process process;
    private final Writer requests;
    private @Nullable CompletableFuture<Integer> current;
    private boolean over;
    private int served;

    private WarmRunner(Child child, String identity) {
        this.identity = identity;
        this.devices = WarmRunners.devices(child);
        this.process = ChildProcess.start(child, LEASH, true);
        this.requests = new OutputStreamWriter(process.getOutputStream(), StandardCharsets.UTF_8);
    }

    static WarmRunner start(Child child, String identity) {
        WarmRunner runner = new WarmRunner(child, identity);
        Thread reader = new Thread(runner::readAnswers, "warm-runner-" + runner.process.pid());
        reader.setDaemon(true);
        reader.start();
        runner.process.onExit().thenRunAsync(() -> runner.hasEnded(reader));
        LOG.info("warm runner {} starts (log {})", runner.process.pid(), child.log());
        return runner;
    }

    String identity() {
        return identity;
    }

    /** Of its GPUs, as CUDA_VISIBLE_DEVICES has them. */
    String devices() {
        return devices;
    }

    /** As the system sees it: {@link Process} hears of an end a moment later. */
    boolean isAlive() {
        return process.toHandle().isAlive();
    }

    int served() {
        return served;
    }

    /** What happens to a shard. @return the exit code that a process of the shard's own would have had */
    CompletableFuture<Integer> ask(Child child, Child.Warm work) {
        CompletableFuture<Integer> answer = new CompletableFuture<>();
        synchronized (this) {
            served++;
            current = answer;
            if (over) {
                answer.complete(exitCode());
                return answer;
            }
        }
        try {
            requests.write(Json.line(new Envelope(served, child.log(), Json.tree(work.request()))) + "\n");
            requests.flush();
        } catch (IOException e) {
            LOG.debug("warm runner {} takes no request; its end is the answer", process.pid(), e);
        }
        return answer;
    }

    /** One request. */
    record Envelope(int id, String log, JsonNode request) {}

    private void readAnswers() {
        try (BufferedReader answers = process.inputReader(StandardCharsets.UTF_8)) {
            for (String line; (line = answers.readLine()) != null; ) {
                answered(Json.tree(line.getBytes(StandardCharsets.UTF_8))
                        .path("status")
                        .asInt(1));
            }
        } catch (IOException | UncheckedIOException e) {
            LOG.warn("warm runner {} said what nobody understands ({}); it is ended", process.pid(), e.toString());
            process.destroyForcibly();
        }
    }

    /** Not the end of its output: a process that it left behind may hold that open. */
    private void hasEnded(Thread reader) {
        ProcessTree.sweep(process);
        try {
            reader.join(LAST_WORDS.toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        synchronized (this) {
            over = true;
        }
        answered(exitCode());
    }

    private void answered(int status) {
        CompletableFuture<Integer> waiting;
        synchronized (this) {
            waiting = current;
            current = null;
        }
        if (waiting != null) {
            waiting.complete(status);
        }
    }

    /** Of a runner that is over without an answer: never 0, that would be a success. */
    private int exitCode() {
        int code = process.exitValue();
        return code == 0 ? 1 : code;
    }

    /** Ends it now. Nothing of it is left on return. */
    void kill(Duration grace) {
        ProcessTree.kill(process, grace);
    }

    /** Asks it to end, which takes a second or two. */
    void dismiss() {
        try {
            requests.close();
        } catch (IOException alreadyGone) {
            LOG.debug("warm runner {} is gone", process.pid());
        }
    }

    /** Waits for one that was dismissed. Nothing of it is left on return. */
    void awaitEnd(Duration grace) {
        try {
            if (!process.waitFor(grace.toMillis(), TimeUnit.MILLISECONDS)) {
                LOG.warn("warm runner {} did not end within {} ms", process.pid(), grace.toMillis());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        process.destroyForcibly();
        ProcessTree.sweep(process);
    }
}
