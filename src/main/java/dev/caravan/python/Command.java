package dev.caravan.python;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** A child process that is waited for; whatever it said is there for the error message. */
final class Command {
    private static final int KEPT_LINES = 60;

    private final List<String> words;
    private final Map<String, String> environment;

    /** @param environment the whole of it; the process's own is not inherited */
    Command(Map<String, String> environment, List<String> words) {
        this.words = List.copyOf(words);
        this.environment = Map.copyOf(environment);
    }

    static Command of(Map<String, String> environment, Path program, String... arguments) {
        List<String> words = new java.util.ArrayList<>();
        words.add(program.toString());
        words.addAll(List.of(arguments));
        return new Command(environment, words);
    }

    /** @param said the last lines of both streams, for people */
    record Result(int status, String out, String said) {
        boolean ok() {
            return status == 0;
        }
    }

    Result run(Duration timeout) {
        return run(timeout, line -> {});
    }

    /**
     * @param lines each line on stderr as it comes
     * @throws PythonException if it cannot be started, takes longer than the timeout, or this thread is interrupted
     */
    Result run(Duration timeout, Consumer<String> lines) {
        return run(process -> process.waitFor(timeout.toMillis(), TimeUnit.MILLISECONDS), timeout, lines);
    }

    /** However long it takes. @param check called every second or so; what it throws ends the process */
    Result run(Runnable check, Consumer<String> lines) {
        return run(
                process -> {
                    while (!process.waitFor(1, TimeUnit.SECONDS)) {
                        check.run();
                    }
                    return true;
                },
                Duration.ZERO,
                lines);
    }

    private interface Wait {
        boolean ended(Process process) throws InterruptedException;
    }

    private Result run(Wait wait, Duration timeout, Consumer<String> lines) {
        Process process = start();
        Deque<String> said = new ArrayDeque<>();
        CompletableFuture<String> out = CompletableFuture.supplyAsync(
                () -> read(process.getInputStream(), line -> keep(said, line)), Command::go);
        CompletableFuture<String> err = CompletableFuture.supplyAsync(
                () -> read(process.getErrorStream(), line -> {
                    keep(said, line);
                    lines.accept(line);
                }),
                Command::go);
        try {
            process.getOutputStream().close();
            if (!wait.ended(process)) {
                throw new PythonException(
                        this + " did not end within " + timeout.toSeconds() + " s; it said:\n" + text(said));
            }
            String printed = out.join();
            err.join();
            return new Result(process.exitValue(), printed, text(said));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new PythonException("interrupted while waiting for " + this, e);
        } catch (IOException e) {
            throw new PythonException("cannot talk to " + this + ": " + e.getMessage(), e);
        } finally {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
        }
    }

    private Process start() {
        ProcessBuilder builder = new ProcessBuilder(words);
        builder.environment().clear();
        builder.environment().putAll(environment);
        try {
            return builder.start();
        } catch (IOException e) {
            throw new PythonException("cannot start " + this + ": " + e.getMessage(), e);
        }
    }

    private static void go(Runnable reader) {
        Thread thread = new Thread(reader, "python-output");
        thread.setDaemon(true);
        thread.start();
    }

    private static String read(InputStream stream, Consumer<String> lines) {
        StringBuilder all = new StringBuilder();
        try (BufferedReader reader = new BufferedReader(new InputStreamReader(stream, StandardCharsets.UTF_8))) {
            for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                all.append(line).append('\n');
                lines.accept(line);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return all.toString();
    }

    private static void keep(Deque<String> said, String line) {
        synchronized (said) {
            said.addLast(line);
            if (said.size() > KEPT_LINES) {
                said.removeFirst();
            }
        }
    }

    private static String text(Deque<String> said) {
        synchronized (said) {
            return said.stream().map(line -> "  " + line).collect(Collectors.joining("\n"));
        }
    }

    /** The first of these names that is an executable file in a folder of {@code PATH}. */
    static @Nullable Path onPath(@Nullable String path, String name) {
        for (String folder : path == null ? new String[0] : path.split(File.pathSeparator)) {
            if (!folder.isEmpty()) {
                File file = new File(folder, name);
                if (file.isFile() && file.canExecute()) {
                    return file.toPath().toAbsolutePath();
                }
            }
        }
        return null;
    }

    @Override
    public String toString() {
        return String.join(" ", words);
    }
}
