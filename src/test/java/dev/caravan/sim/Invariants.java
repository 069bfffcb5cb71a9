package dev.caravan.sim;

import dev.caravan.lease.ClaimedShard;
import dev.caravan.shard.Claim;
import dev.caravan.shard.ClaimStatus;
import dev.caravan.shard.FailedRecord;
import dev.caravan.shard.FailureClass;
import dev.caravan.shard.Policy;
import dev.caravan.shard.ShardId;
import dev.caravan.shard.Timing;
import dev.caravan.store.Json;
import dev.caravan.store.Layout;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collection;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The promises of the protocol, checked at each event that could break one: at changes on the server, at the moment they
 * happen, and where a node's code wants something or is told something.
 */
final class Invariants implements ModelDirectory.Changes {
    /** Beyond two leases: a look, a poll, and the time of the operations themselves. */
    private static final long TAKEOVER_SLACK = 20_000_000_000L;

    private final Layout.Job layout;
    private final Timing timing;
    private final Policy policy;
    private final Lateness lateness;
    private final int shards;
    private int speculated;
    private final Set<Promise> checked;
    private final Set<Path> lockNames = new HashSet<>();
    private final Map<String, Ownership> newest = new TreeMap<>();
    private final Map<String, Claim> lastWritten = new HashMap<>();
    private final Map<Path, byte[]> doneRecords = new HashMap<>();
    private final Map<String, Map<FailureClass, Integer>> failures = new HashMap<>();
    /** By node and path: a node may publish two things at once. */
    private final Map<String, Long> publicationBegan = new HashMap<>();

    private final Map<Integer, Long> beatBegan = new HashMap<>();
    private final Map<Integer, Map<String, Ownership>> held = new HashMap<>();
    private final Map<Integer, SimNode> nodes = new HashMap<>();
    private final Set<String> settled = new HashSet<>();

    Invariants(Layout.Job layout, Plan plan, Set<Promise> checked) {
        this.layout = layout;
        this.timing = plan.timing();
        this.policy = plan.policy();
        this.lateness = plan.lateness();
        this.shards = plan.shards();
        this.checked = checked;
    }

    void joins(SimNode node) {
        nodes.put(node.number(), node);
    }

    void broken(Promise promise, String what) {
        if (checked.contains(promise)) {
            throw new BrokenPromise(promise, what);
        }
    }

    private boolean isLock(Path path) {
        return layout.locks().equals(path.getParent())
                && !Layout.isHidden(path.getFileName().toString());
    }

    /** A claim, of a second attempt too. */
    private boolean isClaim(Path path) {
        return isLock(path) || isRecord(path, layout.speculative());
    }

    /** Claims that follow each other: second attempts of a shard have a row of their own. */
    private static String row(Claim claim) {
        return claim.isSpeculative() ? "second of " + claim.key() : claim.key();
    }

    private Path lockOf(Claim claim) {
        return claim.isSpeculative()
                ? layout.speculative().resolve(Layout.lockName(claim.key(), claim.epoch()))
                : layout.lock(claim.key(), claim.epoch());
    }

    private boolean isRecord(Path path, Path directory) {
        return directory.equals(path.getParent())
                && !Layout.isHidden(path.getFileName().toString());
    }

    private static <T> T parse(byte[] content, Class<T> type) {
        try {
            return Json.parse(content, type);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    // What changes on the server

    @Override
    public void linked(int client, Path path, byte[] content) {
        if (isClaim(path)) {
            if (!lockNames.add(path)) {
                broken(Promise.NAMES_ARE_MADE_ONCE, path.getFileName() + " is made again by n" + client);
            }
            claimed(nodes.get(client), parse(content, Claim.class));
        } else if (isRecord(path, layout.doneRecords())) {
            if (doneRecords.put(path, content) != null) {
                broken(Promise.DONE_STANDS, path.getFileName() + " is made again by n" + client);
            }
            settled.add(keyOf(path));
        } else if (isRecord(path, layout.failedRecords())) {
            settled.add(keyOf(path));
            failedForGood(parse(content, FailedRecord.class));
        }
    }

    private static String keyOf(Path record) {
        return record.getFileName().toString().replace(".json", "");
    }

    private void claimed(SimNode node, Claim claim) {
        Ownership before = newest.get(row(claim));
        Claim written = lastWritten.put(row(claim), claim);
        Ownership now = made(claim, node);
        newest.put(row(claim), now);
        if (claim.isSpeculative()) {
            speculated(claim);
        }
        if (before == null) {
            if (claim.epoch() != 1) {
                broken(Promise.EPOCHS_GROW, now + " is the first claim of its shard");
            }
            return;
        }
        if (before.claim().epoch() == claim.epoch() && before.isLive()) {
            broken(Promise.ONE_LIVE_OWNER, now + " is claimed while " + before + " is live");
        }
        if (claim.epoch() != before.claim().epoch() + 1) {
            broken(Promise.EPOCHS_GROW, now + " follows " + before);
        }
        if (before.isLive()) {
            broken(Promise.TAKEOVER_FROM_THE_DEAD, now + " is claimed while " + before + " is live");
        }
        if (before.hasSucceeded()) {
            broken(Promise.TAKEOVER_FROM_THE_DEAD, now + " is claimed after " + before + " has succeeded");
        }
        if (written != null) {
            checkCharges(before, written, claim);
        }
    }

    private void speculated(Claim claim) {
        speculated++;
        long claimed = newest.values().stream()
                .filter(ownership -> !ownership.claim().isSpeculative())
                .count();
        if (claimed < shards) {
            broken(Promise.SECOND_ATTEMPTS_COME_LAST, claim.key() + " while " + (shards - claimed) + " are unclaimed");
        }
        Ownership first = newest.get(claim.key());
        if (first.claim().epoch() < claim.epochOfShard()) {
            broken(Promise.EPOCHS_GROW, "a second attempt stands beside an epoch to come: " + claim);
        }
    }

    private void checkCharges(Ownership before, Claim last, Claim next) {
        for (FailureClass failure : FailureClass.values()) {
            int charged = next.spent().of(failure) - last.spent().of(failure);
            boolean said = last.failureClass() == failure;
            int most = said || failure == FailureClass.INFRA ? 1 : 0;
            int least = said && !before.isFenced() ? 1 : 0;
            if (charged < least || charged > most) {
                broken(
                        Promise.BUDGETS_ARE_SEPARATE,
                        "%s charges %d %s after %s, which ended %s (%s)"
                                .formatted(next.key(), charged, failure, before, last.status(), last.failureClass()));
            }
        }
    }

    private void failedForGood(FailedRecord record) {
        String key = record.shardId().toString();
        int spent = record.failureClass() == FailureClass.INFRA
                ? (int) newest.get(key).claim().epoch()
                : failures.getOrDefault(key, Map.of()).getOrDefault(record.failureClass(), 0);
        if (spent <= policy.retries(record.failureClass())) {
            broken(
                    Promise.BUDGETS_ARE_KEPT,
                    key + " failed for good after " + spent + " failures of class " + record.failureClass());
        }
    }

    @Override
    public void replaced(int client, Path path, byte[] content) {
        if (isRecord(path, layout.doneRecords()) && !Arrays.equals(doneRecords.get(path), content)) {
            broken(Promise.DONE_STANDS, path.getFileName() + " is replaced by n" + client);
        } else if (isClaim(path)) {
            Claim claim = parse(content, Claim.class);
            if (!claim.node().equals("n" + client)) {
                broken(Promise.OWNERS_END_THEIR_CLAIMS, path.getFileName() + " is ended by n" + client);
            }
            Ownership ownership = newest.get(row(claim));
            if (ownership.claim().token().equals(claim.token())) {
                lastWritten.put(row(claim), claim);
                if (claim.status() == ClaimStatus.DONE) {
                    ownership.succeed();
                }
            }
        }
    }

    @Override
    public void removed(int client, Path path) {
        if (isClaim(path)) {
            broken(Promise.NAMES_ARE_MADE_ONCE, path.getFileName() + " is removed by n" + client);
        } else if (isRecord(path, layout.doneRecords())) {
            broken(Promise.DONE_STANDS, path.getFileName() + " is removed by n" + client);
        }
    }

    // What a node wants, and what it is told

    void wantsToPublish(SimNode node, Path target, byte[] content) {
        publicationBegan.put(node + " " + target, node.nanos());
        if (isRecord(target, layout.doneRecords()) || isRecord(target, layout.failedRecords())) {
            Ownership own = held(node, keyOf(target));
            if (own == null || !own.isLive()) {
                broken(
                        Promise.FENCED_OWNERS_ARE_SILENT,
                        node + " publishes " + target.getFileName() + " of "
                                + (own == null ? "a shard that it does not own" : own));
            }
        }
    }

    void wasTold(SimNode node, Path target, byte[] content, boolean made) {
        if (isClaim(target)) {
            Claim claim = parse(content, Claim.class);
            Ownership ownership = newest.get(row(claim));
            if (ownership != null && ownership.claim().token().equals(claim.token())) {
                if (made) {
                    ownership.know();
                } else {
                    ownership.leave();
                }
            }
            if (made) {
                held.computeIfAbsent(node.number(), number -> new HashMap<>())
                        .put(claim.key(), ownershipOf(claim, node));
            }
        }
    }

    /** What the node believes to hold: the last claim that it made of the shard. */
    private @Nullable Ownership held(SimNode node, String key) {
        return held.getOrDefault(node.number(), Map.of()).get(key);
    }

    private Ownership made(Claim claim, SimNode node) {
        String publication = node + " " + lockOf(claim);
        return new Ownership(claim, node, publicationBegan.getOrDefault(publication, 0L), timing);
    }

    private Ownership ownershipOf(Claim claim, SimNode node) {
        Ownership ownership = newest.get(row(claim));
        return ownership != null && ownership.claim().token().equals(claim.token()) ? ownership : made(claim, node);
    }

    void wantsToReplace(SimNode node, Path target, byte[] content) {
        if (isClaim(target)) {
            Ownership own = held(node, parse(content, Claim.class).key());
            if (own != null) {
                own.isFenced(); // decided now, since nobody asks later
                own.leave();
            }
        }
    }

    /** The heart of the node begins to beat for a lease. */
    void beatsNow(SimNode node) {
        beatBegan.put(node.number(), node.nanos());
    }

    void hasBeaten(SimNode node, Path lock) {
        for (Ownership own : held.getOrDefault(node.number(), Map.of()).values()) {
            if (lock.equals(lockOf(own.claim()))) {
                own.beat(beatBegan.getOrDefault(node.number(), 0L));
            }
        }
    }

    /** @return the truth about the claim that the node begins to work for */
    Ownership begins(SimNode node, ClaimedShard shard) {
        Claim claim = shard.lease().claim();
        if (claim.spent().exceeds(policy)) {
            broken(Promise.BUDGETS_ARE_KEPT, shard + " is tried although it has spent " + claim.spent());
        }
        Ownership own = held(node, claim.key());
        if (own == null || !own.claim().token().equals(claim.token())) {
            throw new IllegalStateException(node + " works on " + shard + " and holds " + own);
        }
        return own;
    }

    void fails(ClaimedShard shard, FailureClass failure) {
        if (shard.lease().claim().isSpeculative()) {
            return; // uses no budget
        }
        failures.computeIfAbsent(shard.shard().id().toString(), key -> new EnumMap<>(FailureClass.class))
                .merge(failure, 1, Integer::sum);
    }

    // What has to happen in time

    void checkTakeovers(long now, Collection<SimNode> all) {
        long longest = 2 * timing.lease().toNanos()
                + TAKEOVER_SLACK
                + lateness.names()
                        .plus(lateness.absence())
                        .plus(lateness.listings())
                        .plus(lateness.content())
                        .toNanos();
        for (Ownership ownership : newest.values()) {
            if (settled.contains(ownership.claim().key())
                    || ownership.claim().isSpeculative()
                    || ownership.isLive()
                    || lastWritten.get(row(ownership.claim())).status() != ClaimStatus.RUNNING) {
                continue;
            }
            for (SimNode node : all) {
                long since = Math.max(node.idleAndWellSince(), ownership.deadSince());
                if (since < now && now - since > longest) {
                    broken(
                            Promise.TAKEOVER_IN_TIME,
                            "%s is dead for %d s, and %s idle"
                                    .formatted(ownership, (now - since) / 1_000_000_000, node));
                }
            }
        }
    }

    /** @param longest that a shard may wait for its turn on one node while another is idle, nothing being wrong with either */
    void checkIdle(long now, Collection<SimNode> all, long longest) {
        for (SimNode holder : all) {
            for (SimNode idle : all) {
                long since = Math.max(holder.holdsAheadAndIsWellSince(), idle.idleAndWellSince());
                if (since < now && now - since > longest) {
                    broken(
                            Promise.NOBODY_IS_IDLE_FOR_LACK_OF_WHAT_WAITS,
                            "%s is idle for %d s while a shard waits on %s"
                                    .formatted(idle, (now - since) / 1_000_000_000, holder));
                }
            }
        }
    }

    boolean isSettled(ShardId shard) {
        return settled.contains(shard.toString());
    }

    int speculatedCount() {
        return speculated;
    }

    int doneCount() {
        return doneRecords.size();
    }

    int failedCount() {
        return settled.size() - doneRecords.size();
    }
}
