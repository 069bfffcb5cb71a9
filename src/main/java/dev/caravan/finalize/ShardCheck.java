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
import java.util.List;
import java.util.Optional;

/** Whether the shards are what the manifest says, one by one and all in a row. */
final class ShardCheck {
    private final Layout.Job job;
    private final Manifest manifest;
    private final Findings findings = new Findings("shards");
    private final RawTally raw = new RawTally();
    private final MessageDigest all = Sha256.digest();
    private long rows;
    private long bytes;

    private ShardCheck(Layout.Job job, Manifest manifest) {
        this.job = job;
        this.manifest = manifest;
    }

    static Step check(Layout.Job job, Manifest manifest) {
        return new ShardCheck(job, manifest).check();
    }

    private Step check() {
        boolean intact = true;
        long start = 0;
        for (Manifest.Shard shard : manifest.shards()) {
            intact &= check(shard, start);
            start += shard.bytes();
        }
        String sha256 = HexFormat.of().formatHex(all.digest());
        if (intact && manifest.normalizedSha256() != null) {
            findings.same(null, job.manifest(), "normalized_sha256", manifest.normalizedSha256(), sha256);
        }
        return findings.step(
                manifest.shards().size()
                        + (manifest.shardForm() == ShardForm.FILES ? " files, " : " shards in the input, ") + rows
                        + " rows, " + bytes + " bytes",
                sha256);
    }

    private boolean check(Manifest.Shard shard, long start) {
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
                : findings.tally(shard.id(), file, expected, found.get(), () -> firstDifference(file, start));
    }

    private Tally read(Manifest.Shard shard) throws IOException {
        try (InputStream in = ShardBytes.open(job, shard)) {
            return raw.next(in, Long.MAX_VALUE, all);
        }
    }

    /** Known where prepare copied the input as it was, and the input is still there. */
    private String firstDifference(Path file, long start) {
        if (!InputCheck.copiesInput(manifest)) {
            return "";
        }
        List<Path> inputs = manifest.inputFiles().stream()
                .map(input -> Path.of(input.path()))
                .toList();
        try {
            return FirstDifference.between(file, inputs, start).text("the input", 0);
        } catch (IOException gone) {
            return "";
        }
    }
}
