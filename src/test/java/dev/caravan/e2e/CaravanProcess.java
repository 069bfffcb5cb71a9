package dev.caravan.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/** One process of the program, its output kept in files so that it never waits for a reader. */
final class CaravanProcess {
    private static final ObjectMapper JSON = new ObjectMapper();

    private final String called;
    private final Process process;
    private final Path stdout;
    private final Path stderr;

    CaravanProcess(String called, Process process, Path stdout, Path stderr) {
        this.called = called;
        this.process = process;
        this.stdout = stdout;
        this.stderr = stderr;
    }

    long pid() {
        return process.pid();
    }

    boolean isAlive() {
        return process.isAlive();
    }

    String stdout() {
        return read(stdout);
    }

    String stderr() {
        return read(stderr);
    }

    private static String read(Path file) {
        try {
            return Files.readString(file, StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Waits for the end. */
    CaravanProcess ends() {
        try {
            if (!process.waitFor(Await.LIMIT.toSeconds(), TimeUnit.SECONDS)) {
                throw new AssertionError("still runs after " + Await.LIMIT + ": " + this);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
        return this;
    }

    CaravanProcess endsWith(int exitCode) {
        ends();
        assertThat(process.exitValue()).as("exit code of %s", this).isEqualTo(exitCode);
        return this;
    }

    int exitCode() {
        return ends().process.exitValue();
    }

    /** The one JSON object that is all of stdout. */
    JsonNode json() {
        String text = stdout();
        assertThat(text.lines()).as("lines on stdout of %s", this).hasSize(1);
        try {
            JsonNode object = JSON.readTree(text);
            assertThat(object.isObject()).as("an object: %s", text).isTrue();
            return object;
        } catch (IOException e) {
            throw new AssertionError("not JSON: " + text, e);
        }
    }

    void awaitLog(String text) {
        Await.until("the log says '" + text + "'", () -> stderr().contains(text) || !isAlive(), this::toString);
        assertThat(stderr()).contains(text);
    }

    void signal(String name) {
        try {
            int code = new ProcessBuilder("kill", "-" + name, Long.toString(pid()))
                    .inheritIO()
                    .start()
                    .waitFor();
            assertThat(code).as("kill -%s of %s", name, called).isZero();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    void kill() {
        process.destroyForcibly();
        ends();
    }

    @Override
    public String toString() {
        return called + "\n--- stdout\n" + stdout() + "--- stderr\n" + stderr();
    }
}
