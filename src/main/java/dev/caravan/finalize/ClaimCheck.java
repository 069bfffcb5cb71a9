package dev.caravan.finalize;

import dev.caravan.finalize.Verification.Step;
import dev.caravan.shard.Claim;
import dev.caravan.shard.DoneRecord;
import dev.caravan.store.JobFiles;
import dev.caravan.store.Layout;
import dev.caravan.store.LeaseStore;
import dev.caravan.store.StoreException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** Whether each result is of the node that had claimed the shard. A claim says nothing of bytes: one may be missing. */
final class ClaimCheck {
    private ClaimCheck() {}

    static Step check(JobFiles job, List<DoneRecord> records) {
        Findings findings = new Findings("claims");
        int seen = 0;
        for (DoneRecord record : records) {
            if (record.speculative()) {
                seen += speculative(job, findings, record);
                continue;
            }
            Path file = job.layout().lock(record.shardId().toString(), record.epoch());
            try {
                Optional<LeaseStore.Sight> sight =
                        job.locks().look(record.shardId().toString(), record.epoch());
                if (sight.isPresent()) {
                    seen++;
                    check(findings, record, file, sight.get().claim());
                }
            } catch (IOException e) {
                findings.add(record.shardId(), file, "cannot be read: " + e);
            }
        }
        return findings.step(seen + " of " + records.size() + " claims seen, each of the node of the result");
    }

    /** @return how many claims were seen: the one of the result, or none at all */
    private static int speculative(JobFiles job, Findings findings, DoneRecord record) {
        String key = record.shardId().toString();
        Path folder = job.layout().speculative();
        try {
            long highest = job.speculative().highestEpochs().getOrDefault(key, 0L);
            for (long number = 1; number <= highest; number++) {
                Optional<Claim> claim = job.speculative().look(key, number).flatMap(LeaseStore.Sight::claim);
                if (claim.filter(known -> known.token().equals(record.token())).isPresent()) {
                    Path file = folder.resolve(Layout.lockName(key, number));
                    findings.same(
                            record.shardId(),
                            file,
                            "epoch",
                            record.epoch(),
                            claim.get().epochOfShard());
                    findings.same(
                            record.shardId(),
                            file,
                            "node",
                            record.node(),
                            claim.get().node());
                    return 1;
                }
            }
            if (highest > 0) {
                findings.add(record.shardId(), folder, "no claim there has the token of the result: " + record.token());
            }
        } catch (IOException | StoreException e) {
            findings.add(record.shardId(), folder, "cannot be read: " + e);
        }
        return 0;
    }

    private static void check(Findings findings, DoneRecord record, Path file, Optional<Claim> claim) {
        if (claim.isEmpty()) {
            findings.add(record.shardId(), file, "expected a claim, found what is not one");
            return;
        }
        findings.same(
                record.shardId(),
                file,
                "key",
                record.shardId().toString(),
                claim.get().key());
        findings.same(
                record.shardId(), file, "epoch", record.epoch(), claim.get().epoch());
        findings.same(
                record.shardId(), file, "token", record.token(), claim.get().token());
        findings.same(record.shardId(), file, "node", record.node(), claim.get().node());
    }
}
