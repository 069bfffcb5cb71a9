package dev.caravan.doctor;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Optional;

/** Locks of the kind {@code flock(2)} makes, by the command of that name: Java has none. */
final class Flock {
    private Flock() {}

    /** Empty if another process has it. */
    static Optional<AutoCloseable> hold(Path file) throws IOException {
        Process holder = new ProcessBuilder("flock", "-n", file.toString(), "sh", "-c", "echo held; cat >/dev/null")
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        BufferedReader out = new BufferedReader(new InputStreamReader(holder.getInputStream(), StandardCharsets.UTF_8));
        if (out.readLine() == null) {
            holder.destroy();
            return Optional.empty();
        }
        return Optional.of(() -> {
            holder.getOutputStream().close();
            holder.destroy();
        });
    }

    static boolean isFree(Path file) throws IOException {
        Process attempt = new ProcessBuilder("flock", "-n", file.toString(), "true")
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
        try {
            int code = attempt.waitFor();
            if (code > 1) {
                throw new IOException("flock ended with " + code);
            }
            return code == 0;
        } catch (InterruptedException e) {
            attempt.destroy();
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        }
    }
}
