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
        long epoch = Long.parseLong(name.group(1));
        Layout.Attempt attempt = new Layout.Attempt(folder);
        cases.addAll(Records.unfinished(job, folder));
        Optional<Records.Read<AttemptRecord>> record = Records.read(attempt.record(), AttemptRecord.class);
        if (record.isEmpty()) {
            withoutRecord(shard, epoch, name.group(2), folder);
        } else if (record.get().value() == null) {
            cases.add(Case.harmless(
                    job.relative(attempt.record()),
                    "torn (" + Records.torn(record.get()) + ")",
                    "it is for people only; the claim tells how the attempt ended"));
        }
        if (Disk.isFile(attempt.processed()) && shard.done == null && !isRunning(shard, epoch)) {
            cases.add(Case.harmless(
                    job.relative(attempt.processed()),
                    "a result that no done record names",
                    "the node died or lost its lease between both; it does not count, the shard is done again"));
        }
    }

    private static boolean isRunning(ShardState shard, long epoch) {
        return shard.isLast(epoch)
                && shard.lastClaim()
                        .filter(claim -> claim.status() == ClaimStatus.RUNNING)
                        .isPresent();
    }

    private void withoutRecord(ShardState shard, long epoch, String token, Path folder) throws IOException {
        Records.Read<Claim> read = shard.claims.get(epoch);
        Claim claim = read == null ? null : read.value();
        boolean known = claim != null && claim.token().equals(token);
        String path = job.relative(folder);
        String found = "an attempt without attempt.json";
        if (isRunning(shard, epoch) || (read != null && claim == null && shard.isLast(epoch))) {
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
