package dev.caravan.chaos;

import dev.caravan.shard.Claim;
import dev.caravan.shard.ClaimStatus;
import dev.caravan.shard.FailureClass;
import dev.caravan.shard.Manifest;
import dev.caravan.shard.ShardId;
import dev.caravan.store.JobFiles;
import dev.caravan.store.Layout;
import dev.caravan.store.LeaseStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Function;

/** What a finished job must look like on the server's disk, and what it tells of the way there. */
final class Aftermath {
    private final Layout.Job job;
    private final Workload work;
    private final Observer observer;
    private final Health health;
    private final Function<String, Optional<Long>> killedAt;
    private final List<String> problems = new ArrayList<>();
    private final List<Takeover> timed = new ArrayList<>();
    private int claims;
    private int takeovers;
    private int rolesTakenOver;
    private int attempts;

    /**
     * From a node's death to the next claim of what it held.
     *
     * @param millis since it was killed
     * @param watchedMillis since then too, but no longer than some node was well without a break: until one is, nobody
     *     can take over
     */
    record Takeover(long millis, long watchedMillis) {}

    /** @param killedAt when the node of an id was killed, by the observer's clock */
    Aftermath(
            Layout.Job job,
            Workload work,
            Observer observer,
            Health health,
            Function<String, Optional<Long>> killedAt) {
        this.job = job;
        this.work = work;
        this.observer = observer;
        this.health = health;
        this.killedAt = killedAt;
    }

    Aftermath inspect() throws IOException {
        output();
        records();
        shardClaims();
        roleClaims();
        return this;
    }

    private void require(boolean holds, String problem) {
        if (!holds) {
            problems.add(job.name() + ": " + problem);
        }
    }

    private void output() throws IOException {
        byte[] expected = work.expected();
        byte[] merged = Files.readAllBytes(job.mergedByDefault());
        require(
                Arrays.equals(merged, expected),
                "the merged file differs from the input's transformation, at byte " + Arrays.mismatch(merged, expected)
                        + " of " + expected.length);
    }

    private void records() throws IOException {
        JobFiles files = new JobFiles(job);
        Manifest manifest = files.manifest();
        require(manifest.numShards() == work.shards(), "shards: " + manifest.numShards());
        require(
                files.doneShards().size() == work.shards(),
                "done records: " + files.doneShards().size());
        require(files.failedShards().isEmpty(), "terminal failures: " + files.failures());
    }

    private void shardClaims() throws IOException {
        LeaseStore locks = new LeaseStore(job.locks());
        for (Map.Entry<String, Long> shard : locks.highestEpochs().entrySet()) {
            long done = 0;
            Claim before = null;
            for (long epoch = 1; epoch <= shard.getValue(); epoch++) {
                Claim claim = claim(locks, shard.getKey(), epoch);
                claims++;
                done += claim.status() == ClaimStatus.DONE ? 1 : 0;
                require(
                        claim.failureClass() == null || claim.failureClass() == FailureClass.INFRA,
                        claim.key() + " epoch " + epoch + " blames the data: " + claim.reason());
                require(claim.spent().data() == 0, claim.key() + " epoch " + epoch + " has spent " + claim.spent());
                takeover(before, claim);
                before = claim;
            }
            require(done <= 1, shard.getKey() + " was done " + done + " times");
            attemptsOf(ShardId.parse(shard.getKey()), locks);
        }
    }

    private Claim claim(LeaseStore locks, String key, long epoch) throws IOException {
        return locks.look(key, epoch)
                .flatMap(LeaseStore.Sight::claim)
                .orElseThrow(() -> new AssertionError("a gap or a torn claim: " + key + " epoch " + epoch));
    }

    private void takeover(Claim before, Claim claim) {
        if (claim.tookOver() == null) {
            return;
        }
        takeovers++;
        require(claim.tookOver().equals(before.token()), claim.key() + " took over another than its last epoch");
        OptionalLong seen = observer.seenAt(claim.key(), claim.epoch());
        killedAt.apply(before.node())
                .filter(killed -> seen.isPresent())
                .ifPresent(killed -> timed.add(timed(claim, killed, seen.getAsLong())));
    }

    private Takeover timed(Claim claim, long killed, long claimed) {
        long watched = Math.max(killed, health.wellSince(claimed).orElse(killed));
        if (claimed - watched > 2 * Chaos.LEASE.toNanos()) {
            System.out.printf(
                    "chaos: late takeover: %s epoch %d by %s at %s%n",
                    claim.key(), claim.epoch(), claim.node(), claim.claimedAt());
        }
        return new Takeover((claimed - killed) / 1_000_000, (claimed - watched) / 1_000_000);
    }

    /** Every attempt belongs to a claim; the one that counts has its result. */
    private void attemptsOf(ShardId shard, LeaseStore locks) throws IOException {
        String[] names = job.attempts(shard).toFile().list();
        for (String name : names == null ? new String[0] : names) {
            attempts++;
            long epoch = Long.parseLong(name.substring(0, name.indexOf('-')));
            Claim claim = claim(locks, shard.toString(), epoch);
            require(name.endsWith("-" + claim.token()), "the attempt " + name + " of " + shard + " has no claim");
        }
        Path result = job.resolve(new JobFiles(job).done(shard).orElseThrow().outputPath());
        require(Files.exists(result), "the result of " + shard + " is missing");
    }

    private void roleClaims() throws IOException {
        LeaseStore roles = new LeaseStore(job.generation("inbox-0001").path());
        for (Map.Entry<String, Long> role : roles.highestEpochs().entrySet()) {
            Claim before = null;
            for (long epoch = 1; epoch <= role.getValue(); epoch++) {
                Claim claim = claim(roles, role.getKey(), epoch);
                rolesTakenOver += claim.tookOver() == null ? 0 : 1;
                takeover(before, claim);
                before = claim;
            }
        }
    }

    List<String> problems() {
        return problems;
    }

    /** Of shards and roles. */
    int takeovers() {
        return takeovers;
    }

    int rolesTakenOver() {
        return rolesTakenOver;
    }

    /** Claims beyond one a shard. */
    int wasted() {
        return claims - work.shards();
    }

    int attempts() {
        return attempts;
    }

    /** Of nodes that were killed. */
    List<Takeover> timed() {
        return timed;
    }
}
