package dev.caravan.claim;

import dev.caravan.CaravanException;
import dev.caravan.shard.Claim;
import dev.caravan.shard.ClaimStatus;
import dev.caravan.shard.NodeIdentity;
import dev.caravan.shard.ShardId;
import dev.caravan.shard.Spent;
import dev.caravan.store.Disk;
import dev.caravan.store.JobFiles;
import dev.caravan.store.LeaseStore;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import java.util.UUID;

/**
 * Gives failed shards a new budget. The next epoch is made as a claim that has ended already, with nothing spent, so
 * that claims stay one growing chain; the record of the failure moves to the history.
 */
public final class Requeue {
    private final JobFiles job;
    private final LeaseStore locks;
    private final NodeIdentity who;

    public Requeue(JobFiles job, NodeIdentity who) {
        this.job = job;
        this.locks = job.locks();
        this.who = who;
    }

    public List<ShardId> allFailed() throws IOException {
        TreeSet<ShardId> failed = new TreeSet<>(job.failedShards());
        failed.removeAll(job.doneShards());
        return List.copyOf(failed);
    }

    /** Requeues all of them or, if one may not be, none. */
    public void requeue(List<ShardId> shards) throws IOException {
        if (job.isCancelled()) {
            throw new CaravanException("the job " + job.layout().name() + " was cancelled: there is nothing to retry");
        }
        Map<String, Long> epochs = locks.highestEpochs();
        for (ShardId shard : shards) {
            check(shard, epochs.getOrDefault(shard.toString(), 0L));
        }
        for (ShardId shard : shards) {
            requeue(shard, epochs.getOrDefault(shard.toString(), 0L));
        }
        Disk.deleteIfPresent(job.layout().report()); // it tells of an end that is none any more
    }

    private void check(ShardId shard, long epoch) throws IOException {
        if (job.manifest().shards().stream().noneMatch(known -> known.id().equals(shard))) {
            throw new CaravanException(
                    "there is no shard " + shard + " in " + job.layout().path());
        }
        if (job.done(shard).isPresent()) {
            throw new CaravanException(shard + " is done: there is nothing to retry");
        }
        Optional<Claim> claim = epoch == 0
                ? Optional.empty()
                : locks.look(shard.toString(), epoch).flatMap(LeaseStore.Sight::claim);
        if (claim.filter(last -> last.status() == ClaimStatus.RUNNING).isPresent()
                && job.failed(shard).isEmpty()) {
            throw new CaravanException(shard + " is running on " + claim.get().node() + " (epoch " + epoch
                    + "): if that node is dead, another takes the shard over by itself");
        }
        if (epoch == 0 && job.failed(shard).isEmpty()) {
            throw new CaravanException(shard + " is pending: it has not failed");
        }
    }

    private void requeue(ShardId shard, long epoch) throws IOException {
        Claim ended = new Claim(
                shard.toString(),
                epoch + 1,
                UUID.randomUUID().toString(),
                who.id(),
                who.hostname(),
                who.pid(),
                Instant.now().toString(),
                ClaimStatus.RELEASED,
                null,
                "retry asked for",
                null,
                Spent.NOTHING,
                List.of(),
                null);
        if (!locks.create(ended)) {
            throw new CaravanException(shard + " was claimed a moment ago: look at its status again");
        }
        Path failed = job.layout().failed(shard);
        if (Disk.exists(failed)) {
            Disk.createDirectories(job.layout().history());
            Disk.rename(failed, job.layout().history(shard, epoch));
        }
    }
}
