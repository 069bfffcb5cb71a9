package dev.caravan.doctor.repair;

import dev.caravan.finalize.RawTally;
import dev.caravan.jsonl.Tally;
import dev.caravan.shard.Claim;
import dev.caravan.shard.ClaimStatus;
import dev.caravan.shard.DoneRecord;
import dev.caravan.shard.FailedRecord;
import dev.caravan.shard.Manifest;
import dev.caravan.store.Disk;
import dev.caravan.store.Evidence;
import dev.caravan.store.Layout;
import dev.caravan.store.StoreException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Whether the claims and records of one shard agree with each other, and with the result. */
final class ShardSurvey {
    private static final String AGAIN = "moves the record to state/history and lets the shard be done again";

    private final Layout.Job job;
    private final Manifest manifest;
    private final Merged merged;
    private final List<Case> cases = new ArrayList<>();

    /** Whether the output is there, so that a lost result is no loss. */
    @FunctionalInterface
    interface Merged {
        boolean isWhole() throws IOException;
    }

    /** @param merged asked only if a result is in doubt */
    ShardSurvey(Layout.Job job, Manifest manifest, Merged merged) {
        this.job = job;
        this.manifest = manifest;
        this.merged = merged;
    }

    /** @param deep whether results are read; else what was found of them before is trusted */
    List<Case> of(ShardState shard, Manifest.Shard planned, boolean deep) throws IOException {
        claims(shard);
        speculative(shard);
        if (shard.done != null) {
            done(shard, planned, deep);
        } else {
            doneClaimWithoutRecord(shard);
        }
        if (shard.failed != null) {
            failed(shard, shard.failed);
        }
        return cases;
    }

    private Path lock(ShardState shard, long epoch) {
        return job.locks().resolve(shard.id + "." + epoch + ".lock");
    }

    private void claims(ShardState shard) {
        long expected = 1;
        for (Map.Entry<Long, Records.Read<Claim>> entry : shard.claims.entrySet()) {
            long epoch = entry.getKey();
            String path = job.relative(lock(shard, epoch));
            if (epoch != expected) {
                String found = "claims " + expected + " to " + (epoch - 1) + " of the shard are missing";
                cases.add(
                        shard.isDone()
                                ? Case.harmless(path, found, "the shard is done all the same")
                                : Case.person(
                                        path,
                                        found,
                                        "a claim's name is never removed: find out what removes files there (clean-up"
                                                + " job, restored backup); nodes go on from the highest epoch"));
            }
            expected = epoch + 1;
            Claim claim = entry.getValue().value();
            if (claim == null) {
                torn(shard, epoch, path, entry.getValue());
            } else if (!claim.key().equals(shard.id.toString()) || claim.epoch() != epoch) {
                cases.add(Case.person(
                        path,
                        "says that it is the claim of " + claim.key() + " epoch " + claim.epoch(),
                        "somebody copied or renamed it; stop the nodes and prepare the job again if in doubt"));
            }
        }
    }

    private void speculative(ShardState shard) {
        for (Map.Entry<Long, Records.Read<Claim>> entry : shard.speculative.entrySet()) {
            String path = job.relative(job.speculative().resolve(Layout.lockName(shard.id.toString(), entry.getKey())));
            Claim claim = entry.getValue().value();
            if (claim == null) {
                cases.add(Case.harmless(
                        path,
                        "a torn claim of a second attempt (" + Records.torn(entry.getValue()) + ")",
                        "it stands beside the shard's own claims, which decide"));
            } else if (!claim.key().equals(shard.id.toString())
                    || claim.epoch() != entry.getKey()
                    || !claim.isSpeculative()) {
                cases.add(Case.person(
                        path,
                        "says that it is claim " + claim.epoch() + " of " + claim.key()
                                + (claim.isSpeculative() ? "" : ", and of no second attempt"),
                        "somebody copied or renamed it; no result rests on it"));
            }
        }
    }

    private void torn(ShardState shard, long epoch, String path, Records.Read<Claim> claim) {
        String meaning = shard.isDone()
                ? "the shard is done all the same"
                : shard.isLast(epoch)
                        ? "nodes take it for running until they have watched it for a whole lease, then take over"
                        : "a higher epoch has taken over";
        cases.add(Case.harmless(path, "a torn claim (" + Records.torn(claim) + ")", meaning));
    }

    private void done(ShardState shard, Manifest.Shard planned, boolean deep) throws IOException {
        Path file = job.done(shard.id);
        DoneRecord record = shard.done == null ? null : shard.done.value();
        if (record == null && shard.done != null) {
            String found = "a torn done record (" + Records.torn(shard.done) + ")";
            cases.add(again(shard, found, "status and merge stop at it"));
        } else if (record != null) {
            Optional<String> wrong = wrong(record, shard, planned, deep);
            if (wrong.isPresent()) {
                cases.add(
                        merged.isWhole()
                                ? Case.harmless(
                                        job.relative(file), wrong.get(), "the merged output is there: not needed")
                                : again(shard, wrong.get(), "the merge refuses it: the result is lost"));
            }
        }
    }

    private Optional<String> wrong(DoneRecord record, ShardState shard, Manifest.Shard planned, boolean deep)
            throws IOException {
        if (!record.shardId().equals(shard.id) || record.rowsIn() != planned.rows()) {
            return Optional.of("is the record of " + record.shardId() + " with " + record.rowsIn()
                    + " rows in, expected " + shard.id + " with " + planned.rows());
        }
        Path result;
        try {
            result = job.resolve(record.outputPath());
        } catch (StoreException outside) {
            return Optional.of("its result " + record.outputPath() + " is outside of the job");
        }
        if (!Disk.isFile(result)) {
            return Optional.of("its result " + record.outputPath() + " is not there");
        }
        long size = Disk.size(result);
        if (size != record.sizeBytes()) {
            return Optional.of(
                    "its result " + record.outputPath() + " has " + size + " bytes, expected " + record.sizeBytes());
        }
        if (!deep) {
            return Optional.empty();
        }
        Tally tally = new RawTally().of(result);
        return tally.sha256().equals(record.sha256())
                ? Optional.empty()
                : Optional.of("its result " + record.outputPath() + " has sha256 " + tally.sha256() + ", expected "
                        + record.sha256());
    }

    /** No result that counts: the shard is to be done again, which needs a claim that does not say done. */
    private Case again(ShardState shard, String found, String meaning) throws IOException {
        Path file = job.done(shard.id);
        return Case.fixable(
                job.relative(file),
                found,
                meaning,
                AGAIN,
                Evidence.of(file) + claimEvidence(shard),
                bench -> bench.moveAside(file) + release(bench, shard));
    }

    private String claimEvidence(ShardState shard) {
        return " claims " + shard.claims.keySet();
    }

    private static String release(Bench bench, ShardState shard) throws IOException {
        Claim last = shard.lastClaim().orElse(null);
        return last == null || last.status() != ClaimStatus.DONE
                ? ""
                : ", " + bench.release(last, "its result was lost: repaired by the doctor");
    }

    private void doneClaimWithoutRecord(ShardState shard) {
        Claim last = shard.lastClaim().orElse(null);
        if (last == null || last.status() != ClaimStatus.DONE) {
            return;
        }
        if (shard.failed != null) {
            cases.add(Case.person(
                    job.relative(lock(shard, last.epoch())),
                    "ended done, but there is no done record, and the shard has failed for good",
                    "one of both was lost or put there: caravan retry --shard-id " + shard.id + " runs it again"));
            return;
        }
        cases.add(Case.fixable(
                job.relative(lock(shard, last.epoch())),
                "ended done, but there is no done record",
                "the record was lost and no node claims the shard again",
                "gives the next epoch free so that the shard is done again",
                claimEvidence(shard),
                bench -> bench.release(last, "its done record was lost: repaired by the doctor")));
    }

    private void failed(ShardState shard, Records.Read<FailedRecord> failed) throws IOException {
        Path file = job.failed(shard.id);
        String path = job.relative(file);
        FailedRecord record = failed.value();
        if (shard.isDone()) {
            cases.add(Case.fixable(
                    path,
                    "the shard is done and has failed for good",
                    "done outranks failed, and nodes act on that",
                    "moves the failure to state/history",
                    Evidence.of(file),
                    bench -> bench.moveAside(file)));
        } else if (record == null) {
            cases.add(Case.fixable(
                    path,
                    "a torn record of a terminal failure (" + Records.torn(failed) + ")",
                    "status stops at it; the claims still tell what failed",
                    "moves it to state/history; the next node records the failure again, or retries",
                    Evidence.of(file) + claimEvidence(shard),
                    bench -> bench.moveAside(file)));
        } else if (shard.claims.isEmpty()) {
            cases.add(Case.person(
                    path,
                    "the shard has failed for good, but nobody has ever claimed it",
                    "claims were removed: caravan retry --shard-id " + shard.id + " if it should run"));
        } else if (hasBudgetLeft(record, shard.claims.get(record.epoch()))) {
            cases.add(Case.person(
                    path,
                    "failed for good (" + record.failureClass() + "), but the manifest allows "
                            + manifest.policy().retries(record.failureClass()) + " retries and its claims spent less",
                    "a node with other limits gave up (--max-retries), or somebody wrote it: caravan retry --shard-id "
                            + shard.id + " if it should run again"));
        }
    }

    private boolean hasBudgetLeft(FailedRecord record, Records.@Nullable Read<Claim> last) {
        Claim claim = last == null ? null : last.value();
        return claim != null
                && !claim.spent().exceeds(manifest.policy())
                && !claim.spentAfter().exceeds(manifest.policy())
                && !claim.spent().plus(record.failureClass()).exceeds(manifest.policy());
    }
}
