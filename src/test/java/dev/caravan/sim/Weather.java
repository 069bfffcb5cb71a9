package dev.caravan.sim;

import java.io.IOException;
import java.nio.file.Path;
import java.util.SplittableRandom;

/** Where faults come from, until the storm is over. All ends with the storm: no freeze and no hung mount outlasts it. */
final class Weather {
    private static final long SECOND = 1_000_000_000L;
    private static final long QUICK = 3_000_000L;

    private final Plan plan;
    private final Scheduler scheduler;
    private final SplittableRandom random;
    private final Trace trace;
    private long hungUntil;
    private long fullUntil;

    Weather(Plan plan, Scheduler scheduler, SplittableRandom random, Trace trace) {
        this.plan = plan;
        this.scheduler = scheduler;
        this.random = random;
        this.trace = trace;
    }

    boolean isStorm() {
        return scheduler.now() < plan.storm().toNanos();
    }

    boolean chance(double chance) {
        return chance > 0 && random.nextDouble() < chance;
    }

    boolean inStorm(double chance) {
        return isStorm() && chance(chance);
    }

    /** A time from now, drawn up to so many seconds, that does not outlast the storm. */
    long until(double mostSeconds) {
        long until = scheduler.now() + (long) (random.nextDouble() * mostSeconds * SECOND);
        return Math.min(until, plan.storm().toNanos());
    }

    void hangMountOfAll(long until) {
        hungUntil = Math.max(hungUntil, until);
    }

    void fillDisk(long until) {
        fullUntil = Math.max(fullUntil, until);
    }

    boolean isMountHung() {
        return hungUntil > scheduler.now();
    }

    /** The way of one node to the server. */
    Network networkOf(SimNode node) {
        return new Network() {
            @Override
            public void ask(Op op, Path path) throws IOException {
                travel(node);
                strike(node, op, path, "before");
                waitForMount(node);
                if (op.needsSpace() && scheduler.now() < fullUntil) {
                    node.trouble(fullUntil);
                    throw failed(node, op, path, "No space left on device");
                }
                if (inStorm(plan.failing())) {
                    node.trouble(scheduler.now());
                    throw failed(node, op, path, random.nextBoolean() ? "Input/output error" : "Stale file handle");
                }
                trace.line(node, op, path);
            }

            @Override
            public Answer answer(Op op, Path path) throws IOException {
                strike(node, op, path, "after");
                travel(node);
                waitForMount(node);
                if (op.changes() && inStorm(plan.losing())) {
                    node.trouble(scheduler.now());
                    if (op == Op.LINK && random.nextBoolean()) {
                        trace.line(node, "asked again", op, path);
                        return Answer.ASKED_AGAIN;
                    }
                    throw failed(node, op, path, "Input/output error, the answer is lost");
                }
                return Answer.ARRIVES;
            }
        };
    }

    private IOException failed(SimNode node, Op op, Path path, String why) {
        trace.line(node, why, op, path);
        return new IOException(path.getFileName() + ": " + why);
    }

    private void travel(SimNode node) {
        long time = 100_000 + (random.nextLong() >>> 1) % QUICK;
        if (inStorm(plan.slowing())) {
            long until = until(random.nextInt(4) == 0 ? 45 : 2);
            node.trouble(until);
            time = Math.max(time, until - scheduler.now());
        }
        scheduler.sleep(time);
    }

    private void strike(SimNode node, Op op, Path path, String when) {
        double weight = op.changes() ? 4 : 1;
        if (inStorm(plan.killing() * weight)) {
            trace.line(node, "killed " + when, op, path);
            node.kill();
            throw new Killed();
        }
        if (inStorm(plan.freezing() * weight)) {
            long until = until(135);
            trace.line(node, "frozen for " + (until - scheduler.now()) / SECOND + " s " + when, op, path);
            node.freeze(until);
            scheduler.sleep(1);
        }
    }

    private void waitForMount(SimNode node) {
        long until;
        while ((until = Math.max(hungUntil, node.hungUntil())) > scheduler.now()) {
            node.trouble(until);
            scheduler.sleep(until - scheduler.now() + (random.nextLong() >>> 1) % QUICK);
        }
    }
}
