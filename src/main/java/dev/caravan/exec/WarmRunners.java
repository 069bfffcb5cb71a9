package dev.caravan.exec;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * The warm runners of this node. An idle one is taken again by a child of the same identity; every other child that
 * starts takes the place of one, so that there are never more runners than slots, and no runner keeps the GPU of
 * another attempt. A runner is replaced after a failure and after {@link #SHARDS_EACH} shards. Thread-safe.
 */
final class WarmRunners implements AutoCloseable {
    static final int SHARDS_EACH = 500;
    private static final Duration IDLE = Duration.ofMinutes(5);
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private final Duration grace;
    private final Deque<WarmRunner> idle = new ArrayDeque<>();
    private boolean closed;

    WarmRunners(Duration grace) {
        this.grace = grace;
    }

    Child.End run(Child child, Child.Warm work) {
        WarmRunner runner = take(work.identity()).orElseGet(() -> {
            makeRoom(child);
            return WarmRunner.start(child, work.identity());
        });
        CompletableFuture<Integer> answer = runner.ask(child, work);
        Optional<Child.End> ended = ChildWatch.await(answer, child);
        if (ended.isPresent()) {
            runner.kill(grace);
            return ended.get();
        }
        int status = answer.join();
        if (status != 0 || runner.served() >= SHARDS_EACH || !park(runner)) {
            end(List.of(runner));
        }
        return new Child.End.Exited(status);
    }

    private synchronized Optional<WarmRunner> take(String identity) {
        Optional<WarmRunner> found = idle.stream()
                .filter(runner -> runner.isAlive() && runner.identity().equals(identity))
                .findFirst();
        found.ifPresent(idle::remove);
        return found;
    }

    /** Before a child starts that takes no idle runner: ends those that hold one of its GPUs, else the oldest one. */
    void makeRoom(Child child) {
        List<WarmRunner> leaving;
        synchronized (this) {
            List<String> wanted = List.of(devices(child).split(","));
            leaving = idle.stream()
                    .filter(runner -> !runner.devices().isEmpty()
                            && Arrays.stream(runner.devices().split(",")).anyMatch(wanted::contains))
                    .toList();
            if (leaving.isEmpty() && !idle.isEmpty()) {
                leaving = List.of(idle.getFirst());
            }
            idle.removeAll(leaving);
        }
        end(leaving);
    }

    static String devices(Child child) {
        return child.environment().getOrDefault("CUDA_VISIBLE_DEVICES", "");
    }

    private synchronized boolean park(WarmRunner runner) {
        if (closed) {
            return false;
        }
        idle.addLast(runner);
        int served = runner.served();
        CompletableFuture.delayedExecutor(IDLE.toMillis(), TimeUnit.MILLISECONDS)
                .execute(() -> endIfStillIdle(runner, served));
        return true;
    }

    private void endIfStillIdle(WarmRunner runner, int served) {
        synchronized (this) {
            if (runner.served() != served || !idle.remove(runner)) {
                return;
            }
        }
        end(List.of(runner));
    }

    private static void end(List<WarmRunner> leaving) {
        leaving.forEach(WarmRunner::dismiss);
        leaving.forEach(runner -> runner.awaitEnd(PATIENCE));
    }

    /** Ends the idle ones; those at work are ended by the stop of their child. */
    @Override
    public void close() {
        List<WarmRunner> leaving;
        synchronized (this) {
            closed = true;
            leaving = List.copyOf(idle);
            idle.clear();
        }
        end(leaving);
    }
}
