package dev.caravan.chaos;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;

/** The machine's own tools, by which faults are made. */
final class Shell {
    private Shell() {}

    /** @return what the command printed */
    static String run(String... command) {
        return run(Map.of(), command);
    }

    static String run(Map<String, String> environment, String... command) {
        Result result = result(environment, command);
        if (result.code() != 0) {
            throw new AssertionError(
                    String.join(" ", List.of(command)) + " ended with " + result.code() + ": " + result.output());
        }
        return result.output();
    }

    record Result(int code, String output) {}

    static Result result(Map<String, String> environment, String... command) {
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().putAll(environment);
        try {
            Process process = builder.start();
            process.getOutputStream().close();
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            return new Result(process.waitFor(), output);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    /** A process that is gone already is no fault of ours. */
    static void signal(String name, long pid) {
        result(Map.of(), "kill", "-" + name, Long.toString(pid));
    }
}
