package dev.caravan.sim;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Virtual time, and who runs at which moment of it.
 *
 * <p>The code under test is synchronous: it calls the shared directory and waits. So each activity of a node (beating,
 * working, watching) is a {@link Strand} with a thread of its own, of which exactly one runs at any moment; a strand
 * gives control away only in {@link #sleep}, by handing it to the owner of the next event. That makes a simulation
 * deterministic, and a strand can be frozen or killed in the middle of a call. A strand whose own event is the next one
 * goes on without a switch of threads.
 */
final class Scheduler {
    private static final ExecutorService THREADS = Executors.newCachedThreadPool(task -> {
        Thread thread = new Thread(task, "sim-strand");
        thread.setDaemon(true);
        return thread;
    });

    /** What the strands of one node have in common. */
    interface Process {
        boolean isDead();

        /** The process is frozen until then; any time in the past if it is not. */
        long frozenUntil();
    }

    /** One thread of control. */
    final class Strand {
        private final @Nullable Process process;
        private volatile boolean turn;
        private volatile @Nullable Thread thread;
        private boolean started;
        private boolean finished;

        private Strand(@Nullable Process process) {
            this.process = process;
        }

        private void wake() {
            turn = true;
            LockSupport.unpark(thread);
        }

        private void await() {
            while (!turn) {
                LockSupport.park(this);
            }
            turn = false;
        }
    }

    private record Event(
            long at,
            long number,
            @Nullable Process process,
            @Nullable Strand strand,
            @Nullable Runnable action) {}

    private final PriorityQueue<Event> events =
            new PriorityQueue<>(Comparator.comparingLong(Event::at).thenComparingLong(Event::number));
    private final List<Strand> strands = new ArrayList<>();
    private long now;
    private long numbers;
    private boolean over;
    private @Nullable Throwable failure;
    private Strand root = new Strand(null);
    private Strand current = root;

    /** True time in nanoseconds since the beginning. */
    long now() {
        return now;
    }

    /** The strand that runs now. */
    Strand running() {
        return current;
    }

    /** Runs something of the process at a time, or of nobody; it does not sleep. A frozen process runs it once it wakes. */
    void at(long time, @Nullable Process process, Runnable action) {
        events.add(new Event(Math.max(time, now), numbers++, process, null, action));
    }

    /** Starts a strand. */
    void start(long time, Process process, Runnable body) {
        Strand strand = new Strand(process);
        strands.add(strand);
        events.add(new Event(
                Math.max(time, now),
                numbers++,
                process,
                strand,
                () -> THREADS.execute(() -> {
                    strand.thread = Thread.currentThread();
                    strand.await();
                    try {
                        body.run();
                    } catch (Killed end) {
                        // as intended
                    } catch (Throwable e) {
                        fail(e);
                    }
                    strand.finished = true;
                    dispatch(strand);
                })));
    }

    /** Lets time pass for the running strand. */
    void sleep(long nanos) {
        Strand me = current;
        if (me == root) {
            throw new IllegalStateException("only strands sleep");
        }
        checkAlive(me);
        Event next = events.peek();
        long until = now + nanos;
        if (!over && (next == null || next.at() > until) && !isFrozen(me.process, until)) {
            now = until;
            return;
        }
        events.add(new Event(until, numbers++, me.process, me, null));
        dispatch(me);
        checkAlive(me);
    }

    private void checkAlive(Strand strand) {
        if (over || (strand.process != null && strand.process.isDead())) {
            throw new Killed();
        }
    }

    private static boolean isFrozen(@Nullable Process process, long at) {
        return process != null && process.frozenUntil() > at;
    }

    /** Ends the simulation at this event. */
    void stop() {
        over = true;
    }

    void fail(Throwable e) {
        if (failure == null) {
            failure = e;
        }
        over = true;
    }

    /** Runs until somebody stops it, in the calling thread and those of the strands. */
    void run() {
        root.thread = Thread.currentThread();
        dispatch(root);
        for (Strand strand : strands) { // whoever is still in a call is unwound
            if (strand.started && !strand.finished) {
                handTo(strand, root);
            }
        }
        if (failure instanceof RuntimeException e) {
            throw e;
        } else if (failure instanceof Error e) {
            throw e;
        } else if (failure != null) {
            throw new IllegalStateException(failure);
        }
    }

    /** Gives control to whom the next event belongs; returns when it is {@code me} again, or for good if it ended. */
    private void dispatch(Strand me) {
        Strand next = over ? root : nextStrand();
        if (next != me) {
            handTo(next, me);
        }
    }

    private void handTo(Strand next, Strand me) {
        current = next;
        next.wake();
        if (!me.finished) {
            me.await();
        }
    }

    private Strand nextStrand() {
        while (!over) {
            Event event = events.poll();
            if (event == null) {
                fail(new IllegalStateException("nothing is left to happen"));
                break;
            }
            now = event.at();
            Process process = event.process();
            if (process != null && !process.isDead() && process.frozenUntil() > now) {
                events.add(new Event(process.frozenUntil(), numbers++, process, event.strand(), event.action()));
                continue;
            }
            Strand strand = event.strand();
            if (strand != null && strand.started) {
                return strand;
            }
            if (process == null || !process.isDead()) {
                run(event.action());
                if (strand != null) {
                    strand.started = true;
                    return strand;
                }
            }
        }
        return root;
    }

    private void run(@Nullable Runnable action) {
        try {
            if (action != null) {
                action.run();
            }
        } catch (Throwable e) {
            fail(e);
        }
    }
}
