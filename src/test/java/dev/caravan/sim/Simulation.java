package dev.caravan.sim;

import dev.caravan.shard.FailureClass;
import dev.caravan.shard.Manifest;
import dev.caravan.shard.ShardId;
import dev.caravan.store.JobFiles;
import dev.caravan.store.Layout;
import dev.caravan.store.SharedDirectory;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One job on several nodes in virtual time: first a storm of faults, then calm, in which everything has to come to its
 * end. The same seed gives the same run.
 */
final class Simulation {
    private static final long SECOND = 1_000_000_000L;
    /** A node lists again after half a minute at the latest, and looks at each tick. */
    private static final long KNOWLEDGE_TAKES = 45 * SECOND;

    private static final long GUST_EACH = 5 * SECOND;
    private static final int MOST_NODES = 14;
    private static final Path JOB = Path.of("/shared/job");

    private final long seed;
    private final Variant variant;
    private final SplittableRandom random;
    private final Plan plan;
    private final Scheduler scheduler = new Scheduler();
    private final Trace trace;
    private final Weather weather;
    private final JobFilesOnModel files;
    private final Invariants invariants;
    private final Manifest manifest;
    private final List<SimNode> nodes = new ArrayList<>();
    private long settledAt = Long.MAX_VALUE;

    private record JobFilesOnModel(Layout.Job layout, ModelDirectory directory) {}

    /** How an attempt will go. @param failure null if it succeeds */
    record Attempt(long nanos, @Nullable FailureClass failure) {}

    /** What a run came to. */
    record Report(long seed, int nodes, int killed, int done, int failed, int speculated, Duration time) {}

    Simulation(long seed, Variant variant, @Nullable Consumer<String> reader) {
        this.seed = seed;
        this.variant = variant;
        this.random = new SplittableRandom(seed);
        this.plan = Plan.of(seed, random.split());
        this.trace = new Trace(reader, scheduler::now);
        this.weather = new Weather(plan, scheduler, random.split(), trace);
        Layout.Job layout = new Layout.Job(JOB);
        this.invariants = new Invariants(layout, plan, variant.checked());
        this.files = new JobFilesOnModel(layout, new ModelDirectory(scheduler::now, plan.lateness(), invariants));
        this.manifest = Jobs.manifest(plan.shards(), plan.policy());
    }

    Scheduler scheduler() {
        return scheduler;
    }

    Plan plan() {
        return plan;
    }

    Trace trace() {
        return trace;
    }

    Invariants invariants() {
        return invariants;
    }

    static Report run(long seed) {
        return new Simulation(seed, Variant.TRUE, null).run();
    }

    /** @throws BrokenPromise if the protocol breaks one */
    Report run() {
        for (Path directory : List.of(
                files.layout().locks(),
                files.layout().speculative(),
                files.layout().doneRecords(),
                files.layout().failedRecords())) {
            files.directory().makeDirectory(directory);
        }
        trace.line(null, "seed " + seed + ": " + plan);
        for (int i = 0; i < plan.nodes(); i++) {
            join(random.nextInt(4) == 0 ? random.nextLong(60 * SECOND) : 0);
        }
        scheduler.at(GUST_EACH, null, this::gust);
        scheduler.at(plan.storm().toNanos(), null, this::calmDown);
        scheduler.at(SECOND, null, this::eachSecond);
        scheduler.run();
        return new Report(
                seed,
                nodes.size(),
                (int) nodes.stream().filter(SimNode::isDead).count(),
                invariants.doneCount(),
                invariants.failedCount(),
                invariants.speculatedCount(),
                Duration.ofNanos(scheduler.now()));
    }

    private void join(long at) {
        scheduler.at(at, null, () -> {
            SimNode node = new SimNode(
                    this,
                    nodes.size(),
                    random.nextLong(),
                    (random.nextDouble() * 2 - 1) * plan.drift(),
                    plan.skew().multipliedBy(random.nextInt(-1, 2)));
            nodes.add(node);
            invariants.joins(node);
            ModelDirectory server = files.directory();
            SharedDirectory mount = server.mount(node.number(), weather.networkOf(node));
            JobFiles job = new JobFiles(
                    new Witness(variant.over(mount, server, node.number()), node, invariants), files.layout());
            node.join(variant.claims(job, manifest, node, plan.pace()));
            trace.line(node, "joins");
        });
    }

    /** How the next attempt of the shard goes. */
    Attempt attemptAt(ShardId shard) {
        if (shard.index() < plan.poisoned()) {
            return new Attempt(SECOND, FailureClass.DATA);
        }
        if (!weather.isStorm()) {
            return new Attempt(random.nextLong(SECOND, 8 * SECOND), null);
        }
        FailureClass[] classes = FailureClass.values();
        return new Attempt(
                random.nextLong(SECOND, plan.work().toNanos() + 1),
                weather.chance(plan.attemptsFail()) ? classes[random.nextInt(classes.length)] : null);
    }

    /** A child that hangs in the mount can be killed at once and yet take minutes to go. */
    long stoppingTakes() {
        return random.nextLong(random.nextInt(5) == 0 ? 240 * SECOND : SECOND);
    }

    private List<SimNode> here() {
        return nodes.stream().filter(SimNode::isHere).toList();
    }

    /** Trouble from outside: it strikes at any moment and not around an operation. */
    private void gust() {
        if (!weather.isStorm()) {
            return;
        }
        List<SimNode> here = here();
        if (!here.isEmpty() && weather.chance(plan.gusts())) {
            SimNode node = here.get(random.nextInt(here.size()));
            long until = weather.until(135);
            String what;
            switch (random.nextInt(9)) {
                case 0 -> {
                    what = "is killed";
                    node.kill();
                }
                case 1 -> {
                    what = "is frozen until " + until / SECOND;
                    node.freeze(until);
                }
                case 2 -> {
                    what = "drains";
                    node.drain();
                }
                case 3 -> {
                    what = "steps its wall clock";
                    node.stepWallClock(Duration.ofSeconds(random.nextInt(-7200, 7200)));
                }
                case 4, 5 -> {
                    what = "has a hung mount until " + until / SECOND;
                    node.hangMount(until);
                }
                case 6 -> {
                    what = "and all others have a hung mount until " + until / SECOND;
                    weather.hangMountOfAll(until);
                    here.forEach(other -> other.trouble(until));
                }
                case 7 -> {
                    what = "finds the disk full until " + until / SECOND;
                    weather.fillDisk(until);
                }
                default -> {
                    what = "sees another join";
                    replace();
                }
            }
            trace.line(node, what);
        }
        if (here.size() < plan.nodes() && random.nextInt(6) == 0) {
            replace();
        }
        scheduler.at(scheduler.now() + GUST_EACH, null, this::gust);
    }

    private void replace() {
        if (nodes.size() < MOST_NODES) {
            join(scheduler.now());
        }
    }

    /** The faults stop; what they have done is still there, and one node more may be dead. */
    private void calmDown() {
        List<SimNode> here = here();
        if (here.size() > 1 && random.nextBoolean()) {
            here.get(random.nextInt(here.size())).kill();
        }
        if (here().isEmpty()) {
            join(scheduler.now());
        }
        trace.line(null, "calm");
    }

    private void eachSecond() {
        long now = scheduler.now();
        invariants.checkTakeovers(now, nodes);
        if (!weather.isStorm()) {
            invariants.checkIdle(now, nodes, KNOWLEDGE_TAKES + listingsAreLate());
            checkEnd(now - plan.storm().toNanos());
        }
        scheduler.at(now + SECOND, null, this::eachSecond);
    }

    private void checkEnd(long calmFor) {
        long late = listingsAreLate();
        List<ShardId> open = manifest.shards().stream()
                .map(Manifest.Shard::id)
                .filter(shard -> !invariants.isSettled(shard))
                .toList();
        if (!open.isEmpty()) {
            long bound = 6 * plan.timing().lease().toNanos() + (400 + 20L * plan.shards()) * SECOND + 4 * late;
            if (calmFor > bound) {
                invariants.broken(Promise.EVERY_SHARD_ENDS, open + " after " + calmFor / SECOND + " s of calm");
                scheduler.stop();
            }
            return;
        }
        settledAt = Math.min(settledAt, scheduler.now());
        List<SimNode> ignorant =
                nodes.stream().filter(node -> node.isHere() && !knows(node)).toList();
        if (ignorant.isEmpty()) {
            scheduler.stop();
        } else if (scheduler.now() - settledAt > late + KNOWLEDGE_TAKES) {
            invariants.broken(Promise.EVERYBODY_KNOWS, ignorant + " do not");
            scheduler.stop();
        }
    }

    private long listingsAreLate() {
        return plan.lateness().names().plus(plan.lateness().listings()).toNanos();
    }

    private boolean knows(SimNode node) {
        return node.claims().doneCount() == invariants.doneCount()
                && node.claims().failedCount() == invariants.failedCount();
    }
}
