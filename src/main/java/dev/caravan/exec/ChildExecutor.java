package dev.caravan.exec;

import dev.caravan.exec.ChildBinding.ChildCommand;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.apache.camel.component.exec.ExecCommand;
import org.apache.camel.component.exec.ExecCommandExecutor;
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
    private static final String LEASH = ChildProcess.DEAF_TO_USR1
            + "exec 3<&0; ( cat <&3 >/dev/null 2>&1; pkill -KILL -s $$; kill -9 -$$ ) 3<&3 2>/dev/null & exec \"$@\" </dev/null 3<&-";

    static final String SHUTDOWN = "the node shuts down";

    private final Duration grace;
    private final WarmRunners warmRunners;
    private final Set<Child> running = ConcurrentHashMap.newKeySet();
    private volatile boolean closed;

    public ChildExecutor(Duration grace) {
        this.grace = grace;
        this.warmRunners = new WarmRunners(grace);
    }

    @Override
    public ExecResult execute(ExecCommand command) {
        ChildCommand childCommand = (ChildCommand) command;
        Child child = childCommand.child;
        running.add(child);
        try {
            if (closed) {
                child.stop().complete(SHUTDOWN);
            }
            childCommand.end = child.warm() == null ? runOnce(child) : warmRunners.run(child, child.warm());
            return new ExecResult(command, null, null, 0);
        } finally {
            synchronized (running) {
                running.remove(child);
                running.notifyAll();
            }
        }
    }

    private Child.End runOnce(Child child) {
        warmRunners.makeRoom(child);
        Process process = ChildProcess.start(child, LEASH, false);
        try {
            Optional<Child.End> ended = ChildWatch.await(process.onExit(), child);
            if (ended.isEmpty()) {
                return new Child.End.Exited(process.exitValue());
            }
            ProcessTree.kill(process, grace);
            return ended.get();
        } finally {
            ProcessTree.sweep(process);
        }
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

    /** Ends all children and idle warm runners; later ones are ended as they start. */
    @Override
    public void close() {
        closed = true;
        running.forEach(child -> child.stop().complete(SHUTDOWN));
        warmRunners.close();
    }

    public boolean isClosed() {
        return closed;
    }
}
