package dev.caravan.doctor.repair;

import dev.caravan.shard.Claim;
import dev.caravan.shard.ClaimStatus;
import dev.caravan.shard.NodeIdentity;
import dev.caravan.store.Disk;
import dev.caravan.store.Json;
import dev.caravan.store.Layout;
import dev.caravan.store.LeaseStore;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Clock;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The three things that a repair does: it moves evidence to a folder of this repair in the history, deletes unfinished
 * files that nobody writes any more, and gives a shard free that no node would claim again.
 */
final class Bench {
    private final Layout.Job job;
    private final NodeIdentity who;
    private final Clock clock;
    private @Nullable Path folder;

    Bench(Layout.Job job, NodeIdentity who, Clock clock) {
        this.job = job;
        this.who = who;
        this.clock = clock;
    }

    /** The folder of this repair, made when it is first needed. */
    private Path folder() throws IOException {
        Path known = folder;
        for (int number = 1; known == null; number++) {
            Disk.createDirectories(job.history());
            Path next = job.repaired(number);
            known = Disk.createNewDirectory(next) ? next : null;
        }
        folder = known;
        return known;
    }

    String moveAside(Path path) throws IOException {
        Path target = folder().resolve(job.relative(path));
        Disk.createDirectories(target.getParent());
        if (!Disk.renameToNew(path, target)) {
            throw new IOException(target + " exists already");
        }
        Disk.syncDirectory(path.getParent());
        return "moved to " + job.relative(target);
    }

    String delete(Path unfinished) throws IOException {
        Disk.deleteTree(unfinished);
        return "deleted";
    }

    /**
     * Makes the epoch after a claim as one that has ended already, with the same budget spent, so that any node may
     * claim the next.
     */
    String release(Claim last, String why) throws IOException {
        Claim released = new Claim(
                last.key(),
                last.epoch() + 1,
                UUID.randomUUID().toString(),
                who.id(),
                who.hostname(),
                who.pid(),
                clock.instant().toString(),
                ClaimStatus.RELEASED,
                null,
                why,
                null,
                last.spent(),
                last.failedOn(),
                null);
        return new LeaseStore(job.locks()).create(released)
                ? "epoch " + released.epoch() + " is given free"
                : "epoch " + released.epoch() + " was claimed meanwhile";
    }

    /** Keeps what was repaired and why, with what was moved. */
    void record(List<Finding> repaired) throws IOException {
        if (folder != null) {
            Disk.replace(folder.resolve("repaired.json"), Json.bytes(repaired));
        }
    }
}
