package dev.caravan.finalize;

import dev.caravan.finalize.Verification.Step;
import dev.caravan.jsonl.Tally;
import dev.caravan.shard.Manifest;
import java.nio.file.Path;
import java.util.Optional;

/** Whether the input files are still those that the job was prepared from. */
final class InputCheck {
    private InputCheck() {}

    static Step check(Manifest manifest) {
        Findings findings = new Findings("inputs");
        RawTally raw = new RawTally();
        long bytes = 0;
        for (Manifest.InputFile input : manifest.inputFiles()) {
            Path file = Path.of(input.path());
            Optional<Tally> read = findings.read(null, file, () -> raw.of(file));
            if (read.isPresent()) {
                Tally found = read.get();
                bytes += found.bytes();
                if (found.bytes() != input.size() || !found.sha256().equals(input.sha256())) {
                    findings.add(
                            null,
                            file,
                            "expected " + input.size() + " bytes, sha256 " + input.sha256() + ", found "
                                    + found.bytes() + " bytes, sha256 " + found.sha256() + Findings.brokenLine(file)
                                    + "; the input was changed after the job was prepared");
                }
            }
        }
        return findings.step(manifest.inputFiles().size() + " files, " + bytes + " bytes");
    }
}
