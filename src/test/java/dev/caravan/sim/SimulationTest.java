package dev.caravan.sim;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * The protocol keeps its promises for each of many seeds. {@code -Dsim.seeds=100000} runs more of them than the gate
 * does, {@code -Dsim.seed=7} one of them with a trace on stdout.
 */
@ExtendWith(Quietly.class)
class SimulationTest {
    private static final long SEEDS = Long.getLong("sim.seeds", 1000);

    @Test
    void all_promises_are_kept() throws Exception {
        if (Long.getLong("sim.seed") != null) {
            new Simulation(Long.getLong("sim.seed"), Variant.TRUE, System.out::println).run();
            return;
        }
        AtomicLong seeds = new AtomicLong();
        LongAdder seconds = new LongAdder();
        LongAdder killed = new LongAdder();
        LongAdder shards = new LongAdder();
        LongAdder speculated = new LongAdder();
        TreeMap<Long, Throwable> broken = new TreeMap<>();
        long began = System.nanoTime();
        everyCore(() -> {
            for (long seed; (seed = seeds.getAndIncrement()) < SEEDS; ) {
                try {
                    Simulation.Report report = Simulation.run(seed);
                    seconds.add(report.time().toSeconds());
                    killed.add(report.killed());
                    shards.add(report.done() + report.failed());
                    speculated.add(report.speculated());
                } catch (BrokenPromise | RuntimeException e) {
                    synchronized (broken) {
                        broken.put(seed, e);
                    }
                }
            }
        });
        System.out.printf(
                "simulation: %d seeds, %d shards, %d second attempts, %d nodes killed, %d h of virtual time in %d s%n",
                SEEDS,
                shards.sum(),
                speculated.sum(),
                killed.sum(),
                TimeUnit.SECONDS.toHours(seconds.sum()),
                TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - began));
        assertThat(speculated.sum()).as("second attempts").isGreaterThan(SEEDS / 10);
        if (!broken.isEmpty()) {
            throw new AssertionError(
                    "%d of %d seeds; the first is %d, replay it with -Dsim.seed=%d: %s"
                            .formatted(
                                    broken.size(),
                                    SEEDS,
                                    broken.firstKey(),
                                    broken.firstKey(),
                                    broken.firstEntry().getValue().getMessage()),
                    broken.firstEntry().getValue());
        }
    }

    private static void everyCore(Runnable work) throws Exception {
        int cores = Runtime.getRuntime().availableProcessors();
        ExecutorService threads = Executors.newFixedThreadPool(cores);
        try {
            List<Future<?>> all = new ArrayList<>();
            for (int core = 0; core < cores; core++) {
                all.add(threads.submit(work));
            }
            for (Future<?> one : all) {
                one.get();
            }
        } finally {
            threads.shutdownNow();
        }
    }

    private static List<String> traceOf(long seed) {
        List<String> lines = new ArrayList<>();
        new Simulation(seed, Variant.TRUE, lines::add).run();
        return lines;
    }

    @Test
    void the_same_seed_gives_the_same_run() {
        new SplittableRandom(1).longs(20, 0, 1_000_000).forEach(seed -> {
            List<String> first = traceOf(seed);

            assertThat(first).hasSizeGreaterThan(100);
            assertThat(traceOf(seed)).as("trace of seed %d", seed).isEqualTo(first);
        });
    }
}
