package dev.caravan.doctor.repair;

import dev.caravan.shard.AttemptRecord;
import dev.caravan.shard.Claim;
import dev.caravan.shard.ClaimStatus;
import dev.caravan.shard.ShardId;
import dev.caravan.store.Disk;
import dev.caravan.store.Evidence;
import dev.caravan.store.Layout;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The directories of attempts: what is in them without a record, or without a claim. */
final class AttemptSurvey {
    private static final Pattern ATTEMPT = Pattern.compile("(\\d{4,18})-(.+)");

    private final Layout.Job job;
    private final Map<ShardId, ShardState> shards;
    private final List<Case> cases = new ArrayList<>();

    AttemptSurvey(Layout.Job job, Map<ShardId, ShardState> shards) {
        this.job = job;
        this.shards = shards;
    }

    List<Case> survey() throws IOException {
        for (String name : Disk.list(job.attempts())) {
            Path folder = job.attempts().resolve(name);
            ShardState shard = shard(name);
            if (shard == null) {
                cases.add(Records.foreign(job, folder, "a folder for each shard"));
                continue;
            }
            for (String attempt : Disk.list(folder)) {
                attempt(shard, folder.resolve(attempt), ATTEMPT.matcher(attempt));
            }
        }
        return cases;
    }

    private @Nullable ShardState shard(String name) {
        try {
            return shards.get(ShardId.parse(name));
        } catch (IllegalArgumentException foreign) {
            return null;
        }
    }

    private void attempt(ShardState shard, Path folder, Matcher name) throws IOException {
        if (!name.matches() || !Disk.isDirectory(folder)) {
            cases.add(Records.foreign(job, folder, "<epoch>-<token>"));
            return;
        }
        Told told = told(shard, Long.parseLong(name.group(1)), name.group(2));
        Layout.Attempt attempt = new Layout.Attempt(folder);
        cases.addAll(Records.unfinished(job, folder));
        Optional<Records.Read<AttemptRecord>> record = Records.read(attempt.record(), AttemptRecord.class);
        if (record.isEmpty()) {
            withoutRecord(told, folder);
        } else if (record.get().value() == null) {
            cases.add(Case.harmless(
                    job.relative(attempt.record()),
                    "torn (" + Records.torn(record.get()) + ")",
                    "it is for people only; the claim tells how the attempt ended"));
        }
        if (Disk.isFile(attempt.processed()) && shard.done == null && !told.running()) {
            cases.add(Case.harmless(
                    job.relative(attempt.processed()),
                    "a result that no done record names",
                    "the node died or lost its lease between both; it does not count, the shard is done again"));
        }
    }

    /**
     * What claims say of an attempt.
     *
     * @param known whether one is this attempt's
     * @param running whether the last one of its kind has not ended
     * @param torn whether that one cannot be read
     */
    private record Told(boolean known, boolean running, boolean torn) {}

    private static Told told(ShardState shard, long epoch, String name) {
        String second = Layout.Job.tokenOfSpeculative(name);
        if (second == null) {
            return told(shard.claims, shard.claims.get(epoch), name, shard.isLast(epoch));
        }
        TreeMap<Long, Records.Read<Claim>> all = shard.speculative;
        return told(
                all,
                all.values().stream()
                        .filter(read -> isOf(read, second))
                        .findFirst()
                        .orElse(null),
                second,
                !all.isEmpty());
    }

    private static Told told(
            TreeMap<Long, Records.Read<Claim>> all,
            Records.@Nullable Read<Claim> own,
            String token,
            boolean mayBeLast) {
        Claim last = mayBeLast ? all.lastEntry().getValue().value() : null;
        return new Told(
                own != null && isOf(own, token),
                last != null && last.status() == ClaimStatus.RUNNING,
                mayBeLast && last == null);
    }

    private static boolean isOf(Records.Read<Claim> read, String token) {
        Claim claim = read.value();
        return claim != null && claim.token().equals(token);
    }

    private void withoutRecord(Told told, Path folder) throws IOException {
        boolean known = told.known();
        String path = job.relative(folder);
        String found = "an attempt without attempt.json";
        if (told.running() || told.torn()) {
            cases.add(Case.harmless(path, found, "it starts just now, or its node died; its claim decides"));
        } else if (Evidence.isHollow(folder)) {
            cases.add(Case.fixable(
                    path,
                    found + " or any other file",
                    known ? "its node died as it started" : "no claim knows it",
                    "moves it to state/history",
                    Evidence.of(folder),
                    bench -> bench.moveAside(folder)));
        } else if (known) {
            cases.add(Case.harmless(path, found, "its node died as it started; its files stay as evidence"));
        } else {
            cases.add(Case.person(
                    path, found + ", and no claim knows it", "look whose files these are; no node reads them"));
        }
    }
}
