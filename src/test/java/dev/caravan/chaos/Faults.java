package dev.caravan.chaos;

import dev.caravan.shard.Claim;
import dev.caravan.shard.Role;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Does faults and undoes them when their time is over. Everything happens in {@link #tick}, except that the holder of a
 * role is killed by whoever sees it, and that hangs end by a thread of their own: to look at a process that waits for a
 * hung mount may take until the hang is over.
 */
final class Faults implements AutoCloseable {
    private static final Duration SPARED_FOR = Duration.ofSeconds(40);

    private record Undo(long at, Runnable action) {}

    private final List<Machine> machines;
    private final Storage storage;
    private final Timeline timeline;
    private final Random random;
    private final PriorityQueue<Undo> undoing = new PriorityQueue<>(Comparator.comparingLong(Undo::at));
    private final List<Undo> hangs = new ArrayList<>();
    private final ScheduledExecutorService waker = Executors.newSingleThreadScheduledExecutor();
    private final Map<Role, Integer> holdersToKill = new EnumMap<>(Role.class);
    private final Map<Machine, Long> restartAt = new HashMap<>();
    private final Set<String> reported = new HashSet<>();
    private final List<String> problems = new ArrayList<>();
    private @Nullable Machine spared;
    private long sparedUntil = System.nanoTime();
    private Duration longestLeave = Duration.ZERO;

    Faults(List<Machine> machines, Storage storage, Timeline timeline, Random random) {
        this.machines = machines;
        this.storage = storage;
        this.timeline = timeline;
        this.random = random;
        waker.scheduleWithFixedDelay(() -> endHangs(System.nanoTime()), 50, 50, TimeUnit.MILLISECONDS);
    }

    List<String> problems() {
        return problems;
    }

    Duration longestLeave() {
        return longestLeave;
    }

    private void later(Duration delay, Runnable action) {
        undoing.add(new Undo(System.nanoTime() + delay.toNanos(), action));
    }

    private void hang(Duration time, Timeline.Entry entry, Runnable end) {
        synchronized (hangs) {
            hangs.add(new Undo(System.nanoTime() + time.toNanos(), () -> {
                end.run();
                timeline.ended(entry);
            }));
        }
    }

    private void endHangs(long due) {
        synchronized (hangs) {
            hangs.removeIf(hang -> {
                boolean over = hang.at() <= due;
                if (over) {
                    hang.action().run();
                }
                return over;
            });
        }
    }

    private Duration between(int fromMillis, int toMillis) {
        return Duration.ofMillis(fromMillis + random.nextInt(toMillis - fromMillis));
    }

    /** Undoes what is due and starts machines that are off. */
    void tick() {
        while (!undoing.isEmpty() && undoing.peek().at() <= System.nanoTime()) {
            undoing.poll().action().run();
        }
        machines.forEach(this::look);
    }

    private void look(Machine machine) {
        machine.diedByItself()
                .filter(death -> reported.add(machine.hostname() + machine.lifeCount()))
                .ifPresent(death -> report(machine, death));
        if (machine.isAlive() || storage.isFaulted(machine.client()) || !storage.isServing()) {
            return;
        }
        Long at = restartAt.get(machine);
        if (at == null) {
            machine.leftWithin().ifPresent(time -> left(machine, time));
            restartAt.put(machine, System.nanoTime() + between(0, 3_000).toNanos());
        } else if (at <= System.nanoTime()) {
            restartAt.remove(machine);
            start(machine);
        }
    }

    private void report(Machine machine, String death) {
        boolean excused = death.contains("before it started") && timeline.explainsRefusalAt(System.currentTimeMillis());
        timeline.happened((excused ? "start refused: " : "DIED BY ITSELF: ") + machine.hostname());
        if (!excused) {
            problems.add(death);
        }
    }

    private void left(Machine machine, Duration time) {
        longestLeave = time.compareTo(longestLeave) > 0 ? time : longestLeave;
        if (machine.exitCode() != 143 && machine.exitCode() != 137) {
            problems.add(machine.hostname() + " was told to leave and ended with " + machine.exitCode() + "\n"
                    + machine.tail());
        }
    }

    /** The last machine's clock is hours off, another way each time. */
    void start(Machine machine) {
        boolean skewed = machine.client() == machines.size();
        int hours = random.nextInt(60) - 30;
        machine.start(
                skewed ? "%+dh".formatted(hours) : "",
                "node",
                "--root",
                storage.shared().resolve("root").toString());
        timeline.happened("start of " + machine.hostname() + (skewed ? " with a clock " + hours + " h off" : ""));
    }

    /**
     * One machine at a time is spared what befalls a single node: who watches dead claims must live longer than a lease,
     * and nodes that are all killed sooner would never take anything over.
     */
    private Optional<Machine> anyVictim() {
        if (System.nanoTime() >= sparedUntil) {
            spared = machines.get(random.nextInt(machines.size()));
            sparedUntil = System.nanoTime() + SPARED_FOR.toNanos();
        }
        List<Machine> working = machines.stream()
                .filter(machine -> machine != spared && machine.isWorking())
                .toList();
        return working.isEmpty() ? Optional.empty() : Optional.of(working.get(random.nextInt(working.size())));
    }

    /** @return whether there was somebody to do it to */
    boolean make(Fault fault) {
        Optional<Machine> victim = anyVictim();
        if (victim.isEmpty()) {
            return false;
        }
        Machine machine = victim.get();
        int client = machine.client();
        switch (fault) {
            case KILL -> kill(machine, "");
            case FREEZE -> {
                Timeline.Entry entry = timeline.began("freeze of " + machine.hostname());
                machine.freeze(random.nextBoolean());
                later(between(9_000, 13_000), () -> {
                    machine.thaw();
                    timeline.ended(entry);
                });
            }
            case LEAVE -> {
                timeline.happened("leave of " + machine.hostname());
                machine.leave();
            }
            case HANG_SERVER -> {
                if (!storage.isServing()) {
                    return false;
                }
                Timeline.Entry entry = timeline.began("hang of the server");
                storage.hangServer();
                hang(between(3_000, 10_000), entry, storage::resumeServer);
            }
            case HANG_MOUNT -> {
                if (storage.isFaulted(client)) {
                    return false;
                }
                Timeline.Entry entry = timeline.began("hang of the mount of " + machine.hostname());
                storage.hang(client);
                hang(between(3_000, 13_000), entry, () -> storage.resume(client));
            }
            case DEAD_MOUNT -> {
                if (storage.isFaulted(client) || !storage.isServing()) {
                    return false;
                }
                Timeline.Entry entry = timeline.began("death of the mount of " + machine.hostname());
                storage.kill(client);
                later(between(2_000, 11_000), () -> remount(machine, entry));
            }
            case DISK_FULL -> {
                if (!storage.isServing()) {
                    return false;
                }
                Timeline.Entry entry = timeline.began("disk full");
                storage.fill();
                later(between(2_000, 7_000), () -> {
                    storage.free();
                    timeline.ended(entry);
                });
            }
        }
        return true;
    }

    /** A client that starts waits for its server. */
    private void remount(Machine machine, Timeline.Entry entry) {
        if (!storage.isServing()) {
            later(Duration.ofMillis(200), () -> remount(machine, entry));
            return;
        }
        storage.remount(machine.client());
        machine.remount();
        timeline.ended(entry);
    }

    private void kill(Machine machine, String why) {
        timeline.happened("kill of " + machine.hostname() + why);
        if (random.nextBoolean()) {
            machine.cutPower();
        } else {
            machine.killNode();
        }
    }

    /** From now on the next {@code holders} holders of the role are killed in the act. */
    synchronized void killHolders(Role role, int holders) {
        holdersToKill.put(role, holders);
    }

    /** Told who holds a role, from another thread. */
    synchronized void onRole(Claim claim) {
        Role role = Role.valueOf(claim.key().toUpperCase(Locale.ROOT));
        int left = holdersToKill.getOrDefault(role, 0);
        if (left == 0) {
            return;
        }
        for (Machine machine : machines) {
            if (machine.isUp() && machine.nodeId().filter(claim.node()::equals).isPresent()) {
                machine.killNode();
                timeline.happened("kill of " + machine.hostname() + ", holder of " + role);
                holdersToKill.put(role, left - 1);
            }
        }
    }

    /** Undoes all that is left to undo, so that whoever lives can finish. */
    void stop() {
        endHangs(Long.MAX_VALUE);
        while (!undoing.isEmpty()) {
            undoing.poll().action().run();
        }
    }

    @Override
    public void close() {
        stop();
        waker.shutdown();
    }
}
