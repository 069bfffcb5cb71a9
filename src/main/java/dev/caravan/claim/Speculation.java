package dev.caravan.claim;

import dev.caravan.lease.Heart;
import dev.caravan.lease.HeldLease;
import dev.caravan.lease.Leases;
import dev.caravan.lease.RetryPace;
import dev.caravan.lease.Verdict;
import dev.caravan.shard.DoneRecord;
import dev.caravan.shard.Manifest;
import dev.caravan.shard.NodeIdentity;
import dev.caravan.shard.Policy;
import dev.caravan.shard.ShardId;
import dev.caravan.store.JobFiles;
import dev.caravan.store.LeaseStore;
import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;

/**
 * Second attempts of shards that run for long on other nodes. Their claims are numbered by themselves in a directory of
 * their own: such a claim stands beside an epoch, which it neither ends nor charges, and only the done record decides
 * between both. How long a shard runs is what this node has seen by its own clock. Not thread-safe, but for {@link #saw}.
 */
final class Speculation {
    /** A shard is slow if it runs so many times as long as the median of those that are done. */
    private static final double TIMES_THE_MEDIAN = 1.5;

    /** So many done records are read to know that median. */
    private static final int SAMPLE = 31;

    private static final int TRIED_AT_ONCE = 8;

    /** One that failed is not repeated: the first attempt may do better. One whose node died is. */
    private static final Policy ONCE = new Policy(0, 10, 0, 0, Duration.ZERO, Duration.ZERO);

    private final JobFiles job;
    private final Manifest manifest;
    private final Heart heart;
    private final NodeIdentity node;
    private final JobView view;
    private final LeaseStore store;
    private final Leases leases;
    private final Map<ShardId, Sighting> seen = new HashMap<>();
    private final Map<ShardId, Double> seconds = new HashMap<>();

    /** @param since when this node first saw the epoch run */
    private record Sighting(long epoch, long since) {}

    /** @param first the first attempt's epoch */
    record Slow(Manifest.Shard shard, long first, long since) {}

    Speculation(JobFiles job, Manifest manifest, Heart heart, NodeIdentity node, RetryPace pace, JobView view) {
        this.job = job;
        this.manifest = manifest;
        this.heart = heart;
        this.node = node;
        this.view = view;
        this.store = job.speculative();
        this.leases = new Leases(store, heart, node, pace);
    }

    /** Another node works on the shard in this epoch. */
    synchronized void saw(ShardId shard, long epoch) {
        Sighting known = seen.get(shard);
        if (known == null || known.epoch() != epoch) {
            seen.put(shard, new Sighting(epoch, heart.nanoClock().getAsLong()));
        }
    }

    private synchronized List<Slow> seenOf(Collection<Manifest.Shard> running) {
        seen.keySet().removeIf(view::isSettled);
        return running.stream()
                .filter(shard ->
                        seen.containsKey(shard.id()) && seen.get(shard.id()).epoch() == view.highestEpoch(shard.id()))
                .map(shard -> new Slow(
                        shard,
                        seen.get(shard.id()).epoch(),
                        seen.get(shard.id()).since()))
                .sorted(Comparator.comparingLong(Slow::since))
                .toList();
    }

    /** @return those of them that are slow, the slowest first */
    List<Slow> slow(Collection<Manifest.Shard> running) throws IOException {
        List<Slow> known = seenOf(running);
        OptionalDouble median = known.isEmpty() ? OptionalDouble.empty() : medianSeconds();
        if (median.isEmpty()) {
            return List.of();
        }
        long patience =
                Math.max(heart.timing().heartbeat().toNanos(), (long) (TIMES_THE_MEDIAN * median.getAsDouble() * 1e9));
        long now = heart.nanoClock().getAsLong();
        return known.stream()
                .filter(shard -> now - shard.since() > patience)
                .limit(TRIED_AT_ONCE)
                .toList();
    }

    /** Of shards from this node's own place on. */
    private OptionalDouble medianSeconds() {
        List<Manifest.Shard> shards = manifest.shards();
        int start = Math.floorMod(node.id().hashCode(), shards.size());
        double[] sample = new double[SAMPLE];
        int size = 0;
        for (int i = 0; i < shards.size() && size < SAMPLE; i++) {
            ShardId id = shards.get((start + i) % shards.size()).id();
            Optional<Double> known = view.isDone(id) ? secondsOf(id) : Optional.empty();
            if (known.isPresent()) {
                sample[size++] = known.get();
            }
        }
        Arrays.sort(sample, 0, size);
        return size == 0 ? OptionalDouble.empty() : OptionalDouble.of(sample[size / 2]);
    }

    private Optional<Double> secondsOf(ShardId shard) {
        if (!seconds.containsKey(shard)) {
            job.done(shard).map(DoneRecord::seconds).ifPresent(known -> seconds.put(shard, known));
        }
        return Optional.ofNullable(seconds.get(shard));
    }

    /** The numbers of the claims so far, by one listing. */
    Map<String, Long> numbers() throws IOException {
        return store.highestEpochs();
    }

    /** Claims a second attempt, unless there is one that lives. */
    Optional<HeldLease> claim(Slow slow, Map<String, Long> numbers) throws IOException {
        String key = slow.shard().id().toString();
        long highest = numbers.getOrDefault(key, 0L);
        if (highest > 0 && !leases.hasSeenEnd(key, highest)) {
            leases.look(key, highest); // again and again, so that a dead one is known
        }
        return leases.judge(key, highest, ONCE) instanceof Verdict.Claimable basis
                ? leases.claim(
                        key,
                        basis,
                        slow.first(),
                        token -> job.layout()
                                .relative(job.layout()
                                        .speculativeAttempt(slow.shard().id(), slow.first(), token)
                                        .path()))
                : Optional.empty();
    }
}
