package dev.caravan.exec;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * A child process to be: what camel-exec cannot say.
 *
 * @param environment added to this process's own environment
 * @param cleared names of variables that the child must not inherit; a trailing {@code *} stands for any ending
 * @param log absolute path; output and errors are appended to it
 * @param timeout zero for none
 * @param stallTimeout longest time without a change in {@code watched}; zero for none
 * @param watched files whose growth is progress, besides the log
 * @param warm work for a warm runner; null for a child that does one thing and ends
 * @param stop completing it with a reason ends the child and everything it started
 */
record Child(
        List<String> command,
        String workingDirectory,
        Map<String, String> environment,
        List<String> cleared,
        String log,
        Duration timeout,
        Duration stallTimeout,
        List<String> watched,
        @Nullable Warm warm,
        CompletableFuture<String> stop) {

    /**
     * @param identity a runner takes only requests of the same one; names all that is settled when it starts
     * @param request JSON
     */
    record Warm(String identity, byte[] request) {}

    Child {
        command = List.copyOf(command);
        environment = Map.copyOf(environment);
        cleared = List.copyOf(cleared);
        watched = List.copyOf(watched);
    }

    /** How a child ended. */
    sealed interface End {
        /** By itself; {@code code} above 128 tells the signal that ended it. */
        record Exited(int code) implements End {}

        record TimedOut() implements End {}

        record Stalled() implements End {}

        /** We ended it. */
        record Stopped(String reason) implements End {}
    }
}
