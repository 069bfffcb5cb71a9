package dev.caravan.node;

import dev.caravan.claim.RoleClaims;
import dev.caravan.claim.ShardClaims;
import dev.caravan.lease.ClaimedRole;
import dev.caravan.shard.Manifest;
import dev.caravan.shard.Role;
import dev.caravan.shard.RoleResult;
import dev.caravan.store.Disk;
import dev.caravan.store.GenerationFiles;
import dev.caravan.store.JobFiles;
import java.io.IOException;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A job that this node takes part in, and what it remembers of it between polls. Thread-safe. */
final class ActiveJob {
    private static final Logger LOG = LoggerFactory.getLogger(ActiveJob.class);

    /** What is to be done next. It is read from the directory, so that all nodes agree. */
    enum Phase {
        PREPARE,
        WORK,
        FINALIZE,
        /** Nothing: somebody paused it. */
        PAUSED,
        ENDED
    }

    private final JobCatalog.Entry entry;
    private final JobFiles files;
    private final GenerationFiles generation;
    private final RoleClaims roles;
    private final Function<Manifest, ShardClaims> shardClaims;
    private final JobGate gate;
    private volatile @Nullable ShardClaims shards;
    private volatile @Nullable Integer priority;
    private volatile boolean prepared;
    private volatile boolean merged;
    private volatile boolean cancelled;
    private volatile boolean paused;
    private volatile Optional<String> refused = Optional.empty();

    ActiveJob(JobCatalog.Entry entry, Function<Manifest, ShardClaims> shardClaims, RoleClaims roles, JobGate gate) {
        this.entry = entry;
        this.files = new JobFiles(entry.job());
        this.generation = new GenerationFiles(entry.generation());
        this.roles = roles;
        this.shardClaims = shardClaims;
        this.gate = gate;
    }

    JobCatalog.Entry entry() {
        return entry;
    }

    /** @param noSoonerThanNanos how old a listing of the shards' state may be */
    Phase phase(long noSoonerThanNanos) throws IOException {
        if (merged) {
            return Phase.ENDED;
        }
        if (priority == null) {
            priority = generation.priority();
        }
        Optional<ShardClaims> claims = shards();
        if (claims.isEmpty() || !isPrepared()) {
            return generation.prepareResult().filter(result -> !result.ok()).isPresent() ? Phase.ENDED : Phase.PREPARE;
        }
        merged = Disk.exists(entry.job().mergeRecord());
        if (merged
                || isCancelled()
                || generation.finalizeResult().filter(result -> !result.ok()).isPresent()) {
            return Phase.ENDED;
        }
        claims.get().refresh(noSoonerThanNanos);
        if (claims.get().isSettled() && claims.get().failedCount() > 0) {
            return Phase.ENDED;
        }
        if (isPaused()) {
            return Phase.PAUSED;
        }
        return claims.get().isSettled() ? Phase.FINALIZE : Phase.WORK;
    }

    /** Of the descriptor, which never changes; 0 before the first look at its phase. */
    int priority() {
        Integer known = priority;
        return known == null ? 0 : known;
    }

    /** As of the last look at its phase. */
    boolean isKnownCancelled() {
        return cancelled;
    }

    boolean isSettled() {
        return shards().map(ShardClaims::isSettled).orElse(false);
    }

    private boolean isCancelled() {
        if (!cancelled && files.isCancelled()) {
            cancelled = true;
            LOG.info(
                    "job {} is cancelled: its running attempts are ended",
                    entry.job().name());
        }
        return cancelled;
    }

    private boolean isPaused() {
        boolean now = files.isPaused();
        if (now != paused) {
            paused = now;
            LOG.info(
                    "job {} is {}",
                    entry.job().name(),
                    now ? "paused: nothing of it is claimed until it is resumed" : "resumed");
        }
        return now;
    }

    /**
     * Whether what this generation asks for is prepared: a job directory that was there before may be another job's,
     * or its input may have changed since. A generation that asks for nothing takes the job as it is.
     */
    private boolean isPrepared() throws IOException {
        if (!prepared) {
            prepared = generation.prepareResult().filter(RoleResult::ok).isPresent()
                    || generation.descriptor().isEmpty();
        }
        return prepared;
    }

    /** The claims of a prepared job, for a node that may work on it now. */
    Optional<ShardClaims> openShards() throws IOException {
        Optional<ShardClaims> claims = shards();
        return claims.isPresent() && refused.isEmpty() && isPrepared() && !isCancelled() && !isPaused()
                ? claims
                : Optional.empty();
    }

    /** The claims of a job that has a directory. */
    Optional<ShardClaims> shards() {
        if (shards == null) {
            synchronized (this) {
                if (shards == null) {
                    files.manifestIfPresent().ifPresent(this::join);
                }
            }
        }
        return Optional.ofNullable(shards);
    }

    private void join(Manifest manifest) {
        refused = gate.refusal(files, manifest);
        refused.ifPresent(why -> LOG.error(
                "job {}: this node takes no shards of it: {}", entry.job().name(), why));
        shards = shardClaims.apply(manifest);
    }

    /** Why this node takes no shards of the job. */
    Optional<String> refused() {
        return refused;
    }

    /** Claims the role unless it has ended. */
    Optional<ClaimedRole> claim(Role role) throws IOException {
        return roles.claim(role);
    }

    void watch(int limit, long listNoSoonerThanNanos) throws IOException {
        roles.watch();
        Optional<ShardClaims> claims = shards();
        if (claims.isPresent()) {
            claims.get().watch(limit, listNoSoonerThanNanos);
        }
    }
}
