package dev.caravan.finalize;

import dev.caravan.finalize.Verification.Step;
import dev.caravan.jsonl.Sha256;
import dev.caravan.jsonl.Tally;
import dev.caravan.shard.MergeRecord;
import dev.caravan.store.Disk;
import dev.caravan.store.JobFiles;
import dev.caravan.store.Json;
import dev.caravan.store.StoreException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Whether the job's own records are byte for byte those that were merged: the merge record holds the checksums of
 * manifest and done records, and one of itself. Finds what no other step can, such as another time or node name.
 */
final class Seals {
    private final JobFiles job;
    private final Set<String> knownAsDamaged;
    private final Findings findings = new Findings("seals");
    private final RawTally raw = new RawTally();

    /** @param knownAsDamaged files of which earlier steps tell */
    Seals(JobFiles job, Set<String> knownAsDamaged) {
        this.job = job;
        this.knownAsDamaged = knownAsDamaged;
    }

    /** Of a record whose seal is empty. */
    static String of(MergeRecord record) {
        return Sha256.hex(Json.bytes(record));
    }

    Step check() {
        Optional<MergeRecord> merged;
        try {
            merged = job.merged();
        } catch (StoreException alreadyFound) {
            merged = Optional.empty();
        }
        if (merged.isEmpty()) {
            return findings.step("not merged");
        }
        MergeRecord record = merged.get();
        ownSeal(record);
        same(null, job.layout().manifest(), record.manifestSha256());
        for (MergeRecord.Part part : record.shards()) {
            same(part, job.layout().done(part.id()), part.recordSha256());
        }
        return findings.step("merge record, manifest and " + record.shards().size() + " done records", record.seal());
    }

    private void ownSeal(MergeRecord record) {
        Path file = job.layout().mergeRecord();
        findings.read(null, file, () -> {
            String text = new String(Disk.read(file), StandardCharsets.UTF_8);
            String unsealed = text.replace('"' + record.seal() + '"', "\"\"");
            String found = Sha256.hex(unsealed.getBytes(StandardCharsets.UTF_8));
            if (!found.equals(record.seal()) && !knownAsDamaged.contains(file.toString())) {
                findings.add(
                        null,
                        file,
                        "expected seal " + record.seal() + ", found " + found + "; the merge record"
                                + " was changed: 'caravan merge' writes it anew");
            }
            return new Tally(1, text.length(), found);
        });
    }

    private void same(MergeRecord.@Nullable Part part, Path file, String expected) {
        if (knownAsDamaged.contains(file.toString())) {
            return;
        }
        Optional<Tally> found = findings.read(part == null ? null : part.id(), file, () -> raw.of(file));
        if (found.isPresent() && !found.get().sha256().equals(expected)) {
            findings.add(
                    part == null ? null : part.id(),
                    file,
                    "expected sha256 " + expected + ", found " + found.get().sha256()
                            + "; it was changed after the merge");
        }
    }
}
