package dev.caravan.finalize;

import dev.caravan.finalize.Verification.Step;
import dev.caravan.jsonl.Tally;
import dev.caravan.shard.Manifest;
import dev.caravan.shard.ShardId;
import dev.caravan.store.Layout;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** Whether the manifest agrees with itself: its shards are all there, in order, and add up; and its recipe is the one. */
final class ManifestCheck {
    private ManifestCheck() {}

    static Step check(Layout.Job job, Manifest manifest) {
        Findings findings = new Findings("manifest");
        Path file = job.manifest();
        List<Manifest.Shard> shards = manifest.shards();
        findings.same(null, file, "schema_version", Manifest.SCHEMA_VERSION, manifest.schemaVersion());
        findings.same(null, file, "num_shards", manifest.numShards(), shards.size());
        for (int i = 0; i < shards.size(); i++) {
            findings.same(
                    null,
                    file,
                    "shard " + i + " to be",
                    new ShardId(i, shards.size()),
                    shards.get(i).id());
        }
        findings.same(
                null,
                file,
                "total_rows",
                manifest.totalRows(),
                shards.stream().mapToLong(Manifest.Shard::rows).sum());
        findings.same(
                null,
                file,
                "rows of the input files",
                manifest.totalRows(),
                manifest.inputFiles().stream()
                        .mapToLong(Manifest.InputFile::rows)
                        .sum());
        findings.same(
                null,
                file,
                "total_size_bytes",
                manifest.totalSizeBytes(),
                shards.stream().mapToLong(Manifest.Shard::bytes).sum());
        RawTally raw = new RawTally();
        if (manifest.recipe() != null) {
            Manifest.Recipe recipe = manifest.recipe();
            Optional<Tally> found = findings.read(null, job.recipe(), () -> raw.of(job.recipe()));
            found.ifPresent(tally -> findings.same(null, job.recipe(), "sha256", recipe.sha256(), tally.sha256()));
        }
        return findings.step(
                shards.size() + " shards, " + manifest.totalRows() + " rows, " + manifest.totalSizeBytes() + " bytes",
                findings.read(null, file, () -> raw.of(file)).map(Tally::sha256).orElse(null));
    }
}
