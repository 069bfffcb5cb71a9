package dev.caravan.finalize;

import dev.caravan.finalize.Verification.Step;
import dev.caravan.jsonl.Sha256;
import dev.caravan.jsonl.Tally;
import dev.caravan.shard.Manifest;
import dev.caravan.store.Disk;
import dev.caravan.store.Layout;
import java.io.IOException;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;

/** Whether the input files are still those that the job was prepared from. One that is gone is said, and no damage. */
final class InputCheck {
    private final Layout.Job job;
    private final Manifest manifest;
    private final Findings findings = new Findings("inputs");
    private final RawTally raw = new RawTally();
    private final MessageDigest all = Sha256.digest();
    private long read;
    private long bytes;

    private InputCheck(Layout.Job job, Manifest manifest) {
        this.job = job;
        this.manifest = manifest;
    }

    static Step check(Layout.Job job, Manifest manifest) {
        return new InputCheck(job, manifest).check();
    }

    private Step check() {
        String gone = "";
        long start = 0;
        for (Manifest.InputFile input : manifest.inputFiles()) {
            Path file = Path.of(input.path());
            if (Disk.exists(file)) {
                check(input, file, start);
            } else if (gone.isEmpty()) {
                gone = "; not there any more, so only its fingerprint in the manifest tells of it: " + file;
            } else {
                gone += gone.endsWith(" and others") ? "" : " and others";
            }
            start += input.size();
        }
        boolean whole = read == manifest.inputFiles().size();
        return findings.step(
                (whole ? "" : read + " of ") + manifest.inputFiles().size() + " files, " + bytes + " bytes" + gone,
                whole ? HexFormat.of().formatHex(all.digest()) : null);
    }

    private void check(Manifest.InputFile input, Path file, long start) {
        Optional<Tally> tally = findings.read(null, file, () -> raw.of(file, all));
        if (tally.isEmpty()) {
            return;
        }
        Tally found = tally.get();
        read++;
        bytes += found.bytes();
        if (found.bytes() != input.size() || !found.sha256().equals(input.sha256())) {
            findings.add(
                    null,
                    file,
                    "expected " + input.size() + " bytes, sha256 " + input.sha256() + ", found " + found.bytes()
                            + " bytes, sha256 " + found.sha256() + Findings.brokenLine(file)
                            + firstDifference(file, start) + "; the input was changed after the job was prepared");
        }
    }

    /** Known where prepare copied the input as it was. */
    private String firstDifference(Path file, long start) {
        if (!copiesInput(manifest)) {
            return "";
        }
        List<Path> shards =
                manifest.shards().stream().map(shard -> job.shard(shard.id())).toList();
        try {
            return FirstDifference.between(file, shards, start).text("the shards", 0);
        } catch (IOException unreadable) {
            return "";
        }
    }

    /** Whether the shards in a row are as long as the input files in a row: then they are the same bytes. */
    static boolean copiesInput(Manifest manifest) {
        return manifest.totalSizeBytes()
                == manifest.inputFiles().stream()
                        .mapToLong(Manifest.InputFile::size)
                        .sum();
    }
}
