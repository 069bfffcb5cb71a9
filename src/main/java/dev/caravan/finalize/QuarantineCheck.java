package dev.caravan.finalize;

import dev.caravan.finalize.Verification.Step;
import dev.caravan.jsonl.Tally;
import dev.caravan.shard.Manifest;
import dev.caravan.store.Layout;
import dev.caravan.store.StoreException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** Whether what was set aside of the input, and what was repaired, is there as the manifest says. */
final class QuarantineCheck {
    private final Layout.Job job;
    private final Findings findings = new Findings("quarantine");
    private final RawTally raw = new RawTally();

    private QuarantineCheck(Layout.Job job) {
        this.job = job;
    }

    static Step check(Layout.Job job, Manifest manifest) {
        return new QuarantineCheck(job).check(manifest);
    }

    private Step check(Manifest manifest) {
        Manifest.@Nullable Quarantine quarantine = manifest.quarantine();
        if (quarantine != null) {
            check(quarantine.records());
            check(quarantine.lines());
            findings.same(
                    null,
                    job.manifest(),
                    "rows of both files of the quarantine",
                    quarantine.records().rows(),
                    quarantine.lines().rows());
        }
        Manifest.@Nullable Repair repair = manifest.repair();
        if (repair != null) {
            check(repair.lines());
        }
        return findings.step(manifest.quarantined() + " bad records set aside"
                + (repair == null ? "" : ", " + repair.rows() + " repaired"));
    }

    private void check(Manifest.File recorded) {
        Path file;
        try {
            file = job.resolve(recorded.path());
        } catch (StoreException e) {
            findings.add(null, job.manifest(), String.valueOf(e.getMessage()));
            return;
        }
        Tally expected = new Tally(recorded.rows(), recorded.bytes(), recorded.sha256());
        findings.read(null, file, () -> raw.of(file))
                .ifPresent(found ->
                        findings.same(null, file, "file of", Concatenation.text(expected), Concatenation.text(found)));
    }
}
