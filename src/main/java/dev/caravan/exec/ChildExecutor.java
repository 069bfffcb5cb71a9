package dev.caravan.exec;

import dev.caravan.exec.ChildBinding.ChildCommand;
import dev.caravan.store.Disk;
import java.io.File;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.camel.component.exec.ExecCommand;
import org.apache.camel.component.exec.ExecCommandExecutor;
import org.apache.camel.component.exec.ExecException;
import org.apache.camel.component.exec.ExecResult;

/**
 * Runs children for camel-exec, each as the leader of its own session with its output in a file, and leaves nothing of
 * them behind: not after an end, a timeout or a stop, and not when this process is killed.
 */
public final class ChildExecutor implements ExecCommandExecutor, AutoCloseable {
    /**
     * The leash: standard input is a pipe whose only writer is this process. When this process dies in any way,
     * {@code cat} sees the end and the whole session is killed.
     */
    private static final String LEASH =
            "exec 3<&0; ( cat <&3 >/dev/null 2>&1; pkill -KILL -s $$; kill -9 -$$ ) 3<&3 2>/dev/null & exec \"$@\" </dev/null 3<&-";

    static final String SHUTDOWN = "the node shuts down";

    private static final Duration LOOK_EVERY = Duration.ofSeconds(1);

    private final Duration grace;
    private final Set<Child> running = ConcurrentHashMap.newKeySet();
    private volatile boolean closed;

    public ChildExecutor(Duration grace) {
        this.grace = grace;
    }

    @Override
    public ExecResult execute(ExecCommand command) {
        ChildCommand childCommand = (ChildCommand) command;
        Child child = childCommand.child;
        Process process = start(child);
        running.add(child);
        try {
            if (closed) {
                child.stop().complete(SHUTDOWN);
            }
            childCommand.end = waitFor(process, child);
            return new ExecResult(command, null, null, 0);
        } finally {
            ProcessTree.sweep(process);
            synchronized (running) {
                running.remove(child);
                running.notifyAll();
            }
        }
    }

    private Process start(Child child) {
        List<String> command = new ArrayList<>(List.of("setsid", "sh", "-c", LEASH, "leash"));
        command.addAll(child.command());
        ProcessBuilder builder = new ProcessBuilder(command)
                .directory(new File(child.workingDirectory()))
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(new File(child.log())));
        Map<String, String> environment = builder.environment();
        environment.keySet().removeIf(name -> child.cleared().stream().anyMatch(pattern -> matches(pattern, name)));
        environment.putAll(child.environment());
        try {
            return builder.start();
        } catch (IOException e) {
            throw new ExecException(
                    "Unable to start " + child.command().get(0) + ": " + e.getMessage() + " (setsid and sh are needed)",
                    null,
                    null,
                    -1,
                    e);
        }
    }

    private static boolean matches(String pattern, String name) {
        return pattern.endsWith("*")
                ? name.startsWith(pattern.substring(0, pattern.length() - 1))
                : name.equals(pattern);
    }

    private Child.End waitFor(Process process, Child child) {
        CompletableFuture<Object> first = CompletableFuture.anyOf(process.onExit(), child.stop());
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
                    ProcessTree.kill(process, grace);
                    return new Child.End.TimedOut();
                }
                if (!child.stallTimeout().isZero()) {
                    long size = outputSize(child);
                    lastProgress = size == lastSize ? lastProgress : now;
                    lastSize = size;
                    if (isOver(child.stallTimeout(), now - lastProgress)) {
                        ProcessTree.kill(process, grace);
                        return new Child.End.Stalled();
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
        String reason = child.stop().getNow(null);
        if (reason == null) {
            return new Child.End.Exited(process.exitValue());
        }
        ProcessTree.kill(process, grace);
        return new Child.End.Stopped(reason);
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

    /** Waits until no child runs, but no longer than {@code patience}: what is nearly finished may finish. */
    public void await(Duration patience) {
        long deadline = System.nanoTime() + patience.toNanos();
        synchronized (running) {
            try {
                for (long left; !running.isEmpty() && (left = deadline - System.nanoTime()) > 0; ) {
                    TimeUnit.NANOSECONDS.timedWait(running, left);
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Ends all children; later ones are ended as they start. */
    @Override
    public void close() {
        closed = true;
        running.forEach(child -> child.stop().complete(SHUTDOWN));
    }

    public boolean isClosed() {
        return closed;
    }
}
