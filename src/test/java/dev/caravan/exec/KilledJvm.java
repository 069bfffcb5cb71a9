package dev.caravan.exec;

import dev.caravan.exec.ChildBinding.ChildCommand;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** A process that runs a child and is killed meanwhile. */
final class KilledJvm {
    private KilledJvm() {}

    public static void main(String[] arguments) {
        new ChildExecutor(Duration.ofSeconds(1))
                .execute(new ChildCommand(new Child(
                        List.of("sh", "-c", arguments[2]),
                        "/",
                        new MarkedProcesses(arguments[0]).environment(),
                        List.of(),
                        arguments[1],
                        Duration.ZERO,
                        Duration.ZERO,
                        List.of(),
                        null,
                        new CompletableFuture<>())));
    }
}
