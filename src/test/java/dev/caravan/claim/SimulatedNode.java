package dev.caravan.claim;

import dev.caravan.TestJob;
import dev.caravan.lease.ClaimedShard;
import dev.caravan.lease.Heart;
import dev.caravan.lease.RetryPace;
import dev.caravan.shard.DoneRecord;
import dev.caravan.shard.Ledger;
import dev.caravan.shard.NodeIdentity;
import dev.caravan.shard.ShardId;
import dev.caravan.shard.Timing;
import dev.caravan.store.Disk;
import dev.caravan.store.JobFiles;
import dev.caravan.store.SharedDirectory;
import java.io.IOException;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** One of several nodes in this process: what it knows of the job is its own. */
final class SimulatedNode {
    static final Timing TIMING = new Timing(Duration.ofMinutes(5), Duration.ofMinutes(1), Duration.ofMinutes(1));
    static final RetryPace PACE = new RetryPace(Duration.ZERO, Duration.ZERO, Duration.ZERO);

    final NodeIdentity identity;
    final JobFiles files;
    final ShardClaims claims;

    SimulatedNode(String id, TestJob job) {
        this(id, job, Disk.SHARED);
    }

    SimulatedNode(String id, TestJob job, SharedDirectory shared) {
        this.identity = new NodeIdentity(id, "host-of-" + id, 7);
        this.files = new JobFiles(shared, job.layout);
        this.claims = new ShardClaims(files, job.manifest, heart(), identity, PACE);
    }

    /** It does not beat: a lease is longer than the test. */
    static Heart heart() {
        return new Heart(TIMING, System::nanoTime, Clock.systemUTC());
    }

    Optional<ClaimedShard> claim() throws IOException {
        return claims.claimNext();
    }

    boolean finish(ClaimedShard work) throws IOException {
        boolean first = work.publish(
                done(work.shard().id(), identity.id(), work.lease().claim().token()));
        claims.finished(work);
        return first;
    }

    static DoneRecord done(ShardId shard, String node, String token) {
        return new DoneRecord(
                shard,
                node,
                "h",
                7,
                token,
                1,
                1,
                "x",
                "command",
                null,
                Ledger.of(1, 1, 0),
                List.of(),
                null,
                1,
                "0",
                List.of(),
                null,
                false,
                0.1,
                "now");
    }
}
