package dev.caravan.exec;

import dev.caravan.store.Disk;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Waits for a child's work, and says when it is to be ended instead: told to stop, too long, without progress. */
final class ChildWatch {
    private static final Duration LOOK_EVERY = Duration.ofSeconds(1);

    private ChildWatch() {}

    /** @return why the child is to be ended; empty if the work is done */
    static Optional<Child.End> await(CompletableFuture<?> done, Child child) {
        CompletableFuture<Object> first = CompletableFuture.anyOf(done, child.stop());
        long began = System.nanoTime();
        long lastProgress = began;
        long lastSize = -1;
        while (true) {
            try {
                first.get(LOOK_EVERY.toMillis(), TimeUnit.MILLISECONDS);
                break;
            } catch (TimeoutException notYet) {
                long now = System.nanoTime();
                if (isOver(child.timeout(), now - began)) {
                    return Optional.of(new Child.End.TimedOut());
                }
                if (!child.stallTimeout().isZero()) {
                    long size = outputSize(child);
                    lastProgress = size == lastSize ? lastProgress : now;
                    lastSize = size;
                    if (isOver(child.stallTimeout(), now - lastProgress)) {
                        return Optional.of(new Child.End.Stalled());
                    }
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                child.stop().complete("interrupted");
                break;
            } catch (ExecutionException impossible) {
                throw new IllegalStateException(impossible);
            }
        }
        return Optional.ofNullable(child.stop().getNow(null)).map(Child.End.Stopped::new);
    }

    private static boolean isOver(Duration limit, long nanos) {
        return !limit.isZero() && nanos >= limit.toNanos();
    }

    private static long outputSize(Child child) {
        long size = Disk.treeSize(child.log());
        for (String watched : child.watched()) {
            size += Disk.treeSize(watched);
        }
        return size;
    }
}
