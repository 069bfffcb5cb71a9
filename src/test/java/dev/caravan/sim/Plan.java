package dev.caravan.sim;

import dev.caravan.lease.RetryPace;
import dev.caravan.shard.Policy;
import dev.caravan.shard.Timing;
import java.time.Duration;
import java.util.SplittableRandom;

/**
 * What one seed has in store. Each kind of trouble is absent from about half of all plans, so that it is met both alone
 * and in company.
 *
 * @param killing chance of death before or after one operation of a client
 * @param freezing chance of being frozen there, for up to three leases
 * @param failing chance of an error there
 * @param losing chance of a lost answer
 * @param slowing chance of a slow operation, up to a lease
 * @param gusts chance, each five seconds, of trouble from outside: mounts that hang, a full disk, kills, drains
 * @param attemptsFail chance that an attempt fails
 */
record Plan(
        Timing timing,
        RetryPace pace,
        Policy policy,
        int nodes,
        int shards,
        Duration storm,
        Duration work,
        Lateness lateness,
        double killing,
        double freezing,
        double failing,
        double losing,
        double slowing,
        double gusts,
        double attemptsFail,
        int poisoned,
        double drift,
        Duration skew) {

    static Plan of(long seed, SplittableRandom random) {
        boolean late = random.nextBoolean();
        Timing timing = timing(random);
        return new Plan(
                timing,
                new RetryPace(Duration.ofSeconds(5), Duration.ofSeconds(60), Duration.ofSeconds(10)),
                new Policy(3, 10, 1, 3, Duration.ZERO, Duration.ZERO).speculating(random.nextInt(3) > 0),
                random.nextInt(2, 7),
                random.nextInt(3, 13),
                Duration.ofSeconds(random.nextInt(100, 400)),
                Duration.ofSeconds(random.nextInt(2, 120)),
                new Lateness(
                        seed,
                        late ? seconds(random, 30) : Duration.ZERO,
                        late ? seconds(random, (int) timing.margin().toSeconds() / 2) : Duration.ZERO,
                        late ? seconds(random, 60) : Duration.ZERO,
                        late ? seconds(random, 30) : Duration.ZERO,
                        late ? seconds(random, 60) : Duration.ZERO),
                sometimes(random, 0.002),
                sometimes(random, 0.004),
                sometimes(random, 0.02),
                sometimes(random, 0.05),
                sometimes(random, 0.02),
                sometimes(random, 0.3),
                sometimes(random, 0.4),
                random.nextInt(4) == 0 ? 1 : 0,
                sometimes(random, 0.01),
                random.nextBoolean()
                        ? Duration.ofHours(random.nextInt(1, 100))
                        : Duration.ofSeconds(random.nextInt(2)));
    }

    private static Timing timing(SplittableRandom random) {
        int lease = random.nextBoolean() ? 45 : random.nextInt(16, 91);
        int margin = lease == 45 ? 10 : random.nextInt(4, lease / 2);
        return new Timing(
                Duration.ofSeconds(lease),
                Duration.ofMillis(lease == 45 ? 10_000 : lease * 1000L / random.nextInt(4, 8)),
                Duration.ofSeconds(margin));
    }

    private static double sometimes(SplittableRandom random, double most) {
        double chance = random.nextDouble() * most;
        return random.nextBoolean() ? chance : 0;
    }

    private static Duration seconds(SplittableRandom random, int most) {
        return random.nextInt(3) == 0 ? Duration.ZERO : Duration.ofMillis(random.nextInt(1, most * 1000));
    }
}
