package dev.caravan.finalize;

import dev.caravan.finalize.Verification.Step;
import dev.caravan.jsonl.Sha256;
import dev.caravan.jsonl.Tally;
import dev.caravan.shard.Manifest;
import dev.caravan.store.Layout;
import dev.caravan.store.StoreException;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.Optional;

/** Whether the shards are what the manifest says, one by one and all in a row. */
final class ShardCheck {
    private final Layout.Job job;
    private final Findings findings = new Findings("shards");
    private final RawTally raw = new RawTally();
    private final MessageDigest all = Sha256.digest();
    private long rows;
    private long bytes;

    private ShardCheck(Layout.Job job) {
        this.job = job;
    }

    static Step check(Layout.Job job, Manifest manifest) {
        return new ShardCheck(job).check(manifest);
    }

    private Step check(Manifest manifest) {
        boolean intact = true;
        for (Manifest.Shard shard : manifest.shards()) {
            intact &= check(shard);
        }
        if (intact) {
            findings.same(
                    null,
                    job.manifest(),
                    "normalized_sha256",
                    manifest.normalizedSha256(),
                    HexFormat.of().formatHex(all.digest()));
        }
        return findings.step(manifest.shards().size() + " files, " + rows + " rows, " + bytes + " bytes");
    }

    private boolean check(Manifest.Shard shard) {
        Path file;
        try {
            file = job.resolve(shard.path());
        } catch (StoreException e) {
            findings.add(shard.id(), job.manifest(), String.valueOf(e.getMessage()));
            return false;
        }
        Optional<Tally> found = findings.read(shard.id(), file, () -> raw.of(file, all));
        if (found.isEmpty()) {
            return false;
        }
        rows += found.get().rows();
        bytes += found.get().bytes();
        return findings.tally(shard.id(), file, new Tally(shard.rows(), shard.bytes(), shard.sha256()), found.get());
    }
}
