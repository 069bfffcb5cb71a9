package dev.caravan.sim;

import dev.caravan.claim.ShardClaims;
import dev.caravan.lease.ClaimedShard;
import dev.caravan.lease.Heart;
import dev.caravan.lease.RetryPace;
import dev.caravan.shard.ClaimStatus;
import dev.caravan.shard.Manifest;
import dev.caravan.shard.NodeIdentity;
import dev.caravan.shard.Policy;
import dev.caravan.shard.Timing;
import dev.caravan.store.JobFiles;
import dev.caravan.store.Layout;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * Many nodes that work through one job without faults, to count what they ask of the server. Each node claims, works,
 * ends its claim as done, and claims again; it polls while there is nothing to claim. Beats and watching are left out:
 * they do not depend on the number of shards.
 */
final class Crowd {
    private static final long SECOND = 1_000_000_000L;

    /** So long that nobody has to beat. */
    private static final Timing TIMING = new Timing(Duration.ofHours(9), Duration.ofHours(1), Duration.ofHours(1));

    private static final RetryPace PACE =
            new RetryPace(Duration.ofSeconds(5), Duration.ofSeconds(60), Duration.ofSeconds(10));

    private final Map<Op, Long> asked = new EnumMap<>(Op.class);
    private final PriorityQueue<Turn> turns =
            new PriorityQueue<>(Comparator.comparingLong(Turn::at).thenComparingLong(Turn::number));
    private final SplittableRandom random = new SplittableRandom(1);
    private final Layout.Job layout = new Layout.Job(Path.of("/shared/job"));
    private final int shards;
    private long now;
    private long numbers;
    private int claims;

    private record Turn(
            long at,
            long number,
            ShardClaims node,
            @Nullable ClaimedShard work) {}

    private Crowd(int shards) {
        this.shards = shards;
    }

    /** What one claim cost, in operations of each kind, until the last shard was claimed. */
    static Map<Op, Double> costOfAClaim(int nodes, int shards) throws IOException {
        Crowd crowd = new Crowd(shards);
        crowd.work(nodes);
        Map<Op, Double> cost = new EnumMap<>(Op.class);
        crowd.asked.forEach((op, times) -> cost.put(op, (double) times / crowd.claims));
        return cost;
    }

    private void work(int nodes) throws IOException {
        ModelDirectory directory = new ModelDirectory(() -> now, Lateness.NONE, ModelDirectory.Changes.IGNORED);
        for (Path path : List.of(layout.locks(), layout.doneRecords(), layout.failedRecords())) {
            directory.makeDirectory(path);
        }
        Manifest manifest = Jobs.manifest(shards, Policy.DEFAULT);
        for (int i = 0; i < nodes; i++) {
            String id = "node-" + Long.toHexString(random.nextLong());
            JobFiles job = new JobFiles(directory.mount(i, counting()), layout);
            Heart heart = new Heart(TIMING, () -> now, Clock.systemUTC());
            take(
                    random.nextLong(2 * SECOND),
                    new ShardClaims(job, manifest, heart, new NodeIdentity(id, id, 1), PACE),
                    null);
        }
        List<ClaimedShard> ended = new ArrayList<>();
        while (claims < shards) {
            Turn turn = turns.remove();
            now = turn.at();
            if (turn.work() != null) {
                turn.work().publish(SimNode.doneRecord(turn.work()));
                turn.node().finished(turn.work());
                ended.add(turn.work());
            }
            Optional<ClaimedShard> next = turn.node().claimNext();
            if (next.isPresent()) {
                claims++;
                take(now + random.nextLong(30 * SECOND, 90 * SECOND), turn.node(), next.get());
            } else {
                take(now + 2 * SECOND, turn.node(), null);
            }
        }
        if (ended.stream().anyMatch(work -> !work.lease().end().equals(Optional.of(ClaimStatus.DONE)))) {
            throw new IllegalStateException("a shard was claimed twice");
        }
    }

    private void take(long at, ShardClaims node, @Nullable ClaimedShard work) {
        turns.add(new Turn(at, numbers++, node, work));
    }

    private Network counting() {
        return new Network() {
            @Override
            public void ask(Op op, Path path) {
                asked.merge(op, 1L, Long::sum);
            }

            @Override
            public Answer answer(Op op, Path path) {
                return Answer.ARRIVES;
            }
        };
    }
}
