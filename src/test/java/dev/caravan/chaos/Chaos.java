package dev.caravan.chaos;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import dev.caravan.shard.Role;
import dev.caravan.store.Layout;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.stream.IntStream;

/** Jobs one after the other through one inbox while faults happen, until the time is over; then what is left behind. */
final class Chaos {
    private static final int NODES = 3;
    private static final int ROLES = Role.values().length;
    /** A job may be over before all faults have had their turn. */
    private static final int MOST_SHORT_ROUNDS = 3;

    static final Duration LEASE = Duration.ofSeconds(8);
    private static final Duration TO_FINISH = Duration.ofMinutes(6);
    private static final List<String> OPTIONS = List.of(
            "-Dcaravan.claim.lease=" + LEASE.toSeconds() + "s",
            "-Dcaravan.claim.heartbeat=2s",
            "-Dcaravan.claim.margin=2s",
            "-Dcaravan.claim.poll=500ms",
            "-Dcaravan.intake.settle=200ms",
            "-Dcaravan.retry.backoff=200ms",
            "-Dcaravan.retry.backoff_max=2s",
            "-Dcaravan.retry.other_node_first=500ms",
            "-Dcaravan.node.drain=2s",
            "-Dcaravan.exec.grace=2s");

    private final Plan plan;
    private final Random random;
    private final Path folder;
    private final Timeline timeline = new Timeline();
    private final Summary summary;

    /**
     * @param once these faults, one after the other
     * @param time then any fault, until this time is over; zero for none
     */
    record Plan(long seed, Workload work, List<Fault> once, Duration time, Duration pause) {}

    Chaos(Plan plan, Path folder) {
        this.plan = plan;
        this.random = new Random(plan.seed());
        this.folder = folder;
        this.summary = new Summary(plan.seed());
    }

    Summary run() throws Exception {
        try (Storage storage = Storage.start(folder.resolve("nas"), NODES, "3g")) {
            Path logs = Files.createDirectories(folder.resolve("logs"));
            List<String> options = new ArrayList<>(OPTIONS);
            options.add(Machine.quickStart(folder));
            List<Machine> machines = IntStream.rangeClosed(1, NODES)
                    .mapToObj(client -> new Machine(client, storage, logs, options))
                    .toList();
            Faults faults = new Faults(machines, storage, timeline, random);
            Health health = new Health(machines, storage);
            Thread ifInterrupted = new Thread(() -> {
                machines.forEach(Machine::cutPower);
                storage.close();
            });
            Runtime.getRuntime().addShutdownHook(ifInterrupted);
            try {
                plan.work().write(storage.own());
                machines.forEach(faults::start);
                List<Fault> once = new ArrayList<>(plan.once());
                Collections.shuffle(once, random);
                long end = System.nanoTime() + plan.time().toNanos();
                int round = 0;
                do {
                    round++;
                    round(round, storage, machines, faults, health, once, end);
                } while (System.nanoTime() < end
                        || round < MOST_SHORT_ROUNDS && !(once.isEmpty() && summary.rolesTakenOver() >= ROLES));
                once.forEach(fault -> summary.problems().add("no occasion for " + fault));
                faults.stop();
                noProcessIsLeft(storage, machines);
            } finally {
                faults.close();
                machines.forEach(Machine::cutPower);
                for (Machine machine : machines) {
                    machine.awaitEnd(Duration.ofSeconds(30));
                }
                Runtime.getRuntime().removeShutdownHook(ifInterrupted);
            }
            Leftovers leftovers = Leftovers.below(storage.brick().resolve("root"), timeline);
            summary.add(leftovers);
            summary.problems().addAll(faults.problems());
            summary.finish(timeline, faults.longestLeave());
            return summary;
        }
    }

    private void round(
            int number,
            Storage storage,
            List<Machine> machines,
            Faults faults,
            Health health,
            List<Fault> once,
            long end)
            throws Exception {
        String name = "round-" + number;
        Layout.Job job = new Layout.Root(storage.brick().resolve("root")).job(name);
        faults.killHolders(Role.PREPARE, 1 + random.nextInt(plan.time().isZero() ? 1 : 2));
        faults.killHolders(Role.FINALIZE, 1 + random.nextInt(plan.time().isZero() ? 1 : 2));
        boolean dropped = false;
        long nextFault = 0;
        long limit = Long.MAX_VALUE;
        try (Observer observer = new Observer(
                job,
                () -> machines.stream().anyMatch(machine -> machine.isWorking() && storage.isServing(machine.client())),
                faults::onRole)) {
            observer.start();
            while (!observer.isMerged()) {
                faults.tick();
                health.look();
                long now = System.nanoTime();
                if (!dropped && storage.isServing()) {
                    drop(name, storage);
                    dropped = true;
                }
                boolean over = once.isEmpty() && now >= end;
                if (over && limit == Long.MAX_VALUE) { // what has begun takes its time still
                    limit = now + TO_FINISH.toNanos();
                }
                if (dropped && !over && now >= nextFault && observer.done() > 0) {
                    Fault fault = once.isEmpty() ? Fault.any(random) : once.get(0);
                    if (faults.make(fault) && !once.isEmpty()) {
                        once.remove(0);
                    }
                    nextFault = now
                            + plan.pause().toNanos() / 2
                            + (long) (random.nextDouble() * plan.pause().toNanos());
                }
                if (now >= limit || observer.hasFailed()) {
                    faults.stop();
                    fail(name + (now >= limit ? " did not finish" : " failed") + ": done " + observer.done() + "\n"
                            + evidence(machines, faults));
                }
                Thread.sleep(20);
            }
            inspect(job, storage, machines, faults, health, observer);
        }
    }

    /** Into the inbox by the test's own mount, as a user copies a file. */
    private void drop(String name, Storage storage) throws IOException {
        Path inbox = Files.createDirectories(storage.own().resolve("root/inbox"));
        Files.writeString(inbox.resolve(name + ".yaml"), plan.work().descriptor(name, storage.shared()));
        timeline.happened("job " + name + " dropped");
    }

    private void inspect(
            Layout.Job job, Storage storage, List<Machine> machines, Faults faults, Health health, Observer observer)
            throws Exception {
        faults.stop();
        timeline.happened("job " + job.name() + " merged");
        Aftermath aftermath = new Aftermath(
                        job,
                        plan.work(),
                        observer,
                        health,
                        node -> machines.stream()
                                .map(machine -> machine.killedAt(node))
                                .flatMap(Optional::stream)
                                .findFirst())
                .inspect();
        Path seenByNodes = storage.shared().resolve("root/jobs").resolve(job.name());
        Path log = folder.resolve("logs").resolve("verify-" + job.name() + ".log");
        int verified = new Machine(NODES, storage, folder.resolve("logs"), List.of())
                .run(log, "verify", "--job-dir", seenByNodes.toString());
        summary.add(aftermath, observer.longestStallMillis());
        if (verified != 0) {
            summary.problems().add("verify of " + job.name() + ": " + Files.readString(log));
        }
    }

    /** First in living nodes that have nothing to do, then once they have been told to leave. */
    private void noProcessIsLeft(Storage storage, List<Machine> machines) throws InterruptedException {
        long deadline = System.nanoTime() + Duration.ofSeconds(20).toNanos();
        for (Machine machine : machines) {
            while (machine.isUp() && !machine.children().isEmpty()) {
                if (System.nanoTime() > deadline) {
                    summary.problems().add("processes of an idle node: " + machine.children());
                    break;
                }
                Thread.sleep(50);
            }
        }
        machines.forEach(Machine::leave);
        for (Machine machine : machines) {
            machine.awaitEnd(Duration.ofSeconds(60));
        }
        String left = Shell.result(Map.of(), "pgrep", "-af", storage.shared().toString())
                .output();
        assertThat(left).as("processes left behind").isEmpty();
    }

    private String evidence(List<Machine> machines, Faults faults) {
        StringBuilder text = new StringBuilder(summary.toString()).append('\n');
        faults.problems().forEach(problem -> text.append(problem).append('\n'));
        machines.forEach(machine -> text.append("--- ").append(machine.tail()).append('\n'));
        return text.append("logs: ").append(folder.resolve("logs")).toString();
    }
}
