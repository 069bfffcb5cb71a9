package dev.caravan.finalize;

import dev.caravan.finalize.Verification.Step;
import dev.caravan.jsonl.Sha256;
import dev.caravan.jsonl.Tally;
import dev.caravan.shard.Manifest;
import dev.caravan.shard.ShardForm;
import dev.caravan.store.Layout;
import dev.caravan.store.ShardBytes;
import dev.caravan.store.StoreException;
import java.io.IOException;
import java.io.InputStream;
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
        if (intact && manifest.normalizedSha256() != null) {
            findings.same(
                    null,
                    job.manifest(),
                    "normalized_sha256",
                    manifest.normalizedSha256(),
                    HexFormat.of().formatHex(all.digest()));
        }
        return findings.step(manifest.shards().size()
                + (manifest.shardForm() == ShardForm.FILES ? " files, " : " shards in the input, ") + rows + " rows, "
                + bytes + " bytes");
    }

    private boolean check(Manifest.Shard shard) {
        Path file;
        try {
            file = shard.path() == null ? Path.of(shard.ranges().get(0).file()) : job.resolve(shard.path());
        } catch (StoreException e) {
            findings.add(shard.id(), job.manifest(), String.valueOf(e.getMessage()));
            return false;
        }
        Optional<Tally> found = findings.read(shard.id(), file, () -> read(shard));
        if (found.isEmpty()) {
            return false;
        }
        rows += found.get().rows();
        bytes += found.get().bytes();
        Tally expected = new Tally(shard.rows(), shard.bytes(), shard.sha256());
        return shard.path() == null
                ? findings.same(
                        shard.id(), file, "ranges of", Concatenation.text(expected), Concatenation.text(found.get()))
                : findings.tally(shard.id(), file, expected, found.get());
    }

    private Tally read(Manifest.Shard shard) throws IOException {
        try (InputStream in = ShardBytes.open(job, shard)) {
            return raw.next(in, Long.MAX_VALUE, all);
        }
    }
}
