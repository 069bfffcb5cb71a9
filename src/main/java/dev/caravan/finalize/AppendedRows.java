package dev.caravan.finalize;

import dev.caravan.finalize.Verification.Step;
import dev.caravan.jsonl.Sha256;
import dev.caravan.jsonl.Tally;
import dev.caravan.shard.Manifest;
import dev.caravan.shard.MiniBatch;
import dev.caravan.store.Disk;
import dev.caravan.store.Json;
import dev.caravan.store.Layout;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.DigestOutputStream;
import java.util.HexFormat;
import java.util.Optional;

/** The file of engine mini-batch with what run() returned, a line an item: made of the merged file, in its order. */
final class AppendedRows {
    private final Path file;

    private AppendedRows(Path file) {
        this.file = file;
    }

    /** Nothing for a job that makes no such file. */
    static Optional<AppendedRows> of(Layout.Job job, Manifest manifest) {
        return Optional.ofNullable(manifest.execution().miniBatch())
                .filter(MiniBatch::appendsRows)
                .map(options -> new AppendedRows(job.scriptOutput().resolve(options.appendRowFileName())));
    }

    boolean isThere() {
        return Disk.exists(file);
    }

    void write(Path merged) throws IOException {
        Disk.createDirectories(file.getParent());
        Disk.writeWhole(file, out -> copy(merged, out));
    }

    Step check(Path merged) {
        Findings findings = new Findings("appended rows");
        findings.read(null, file, () -> new RawTally().of(file))
                .ifPresent(found -> findings.read(null, merged, () -> copy(merged, OutputStream.nullOutputStream()))
                        .ifPresent(expected -> findings.same(
                                null,
                                file,
                                "what the merged file says,",
                                Concatenation.text(expected),
                                Concatenation.text(found))));
        return findings.step(file.toString());
    }

    private static Tally copy(Path merged, OutputStream out) throws IOException {
        DigestOutputStream digest = new DigestOutputStream(out, Sha256.digest());
        long rows = 0;
        long bytes = 0;
        try (BufferedReader lines =
                new BufferedReader(new InputStreamReader(Disk.open(merged), StandardCharsets.UTF_8))) {
            for (String line; (line = lines.readLine()) != null; ) {
                for (var item : Json.tree(line.getBytes(StandardCharsets.UTF_8)).path("results")) {
                    byte[] text = (item.asText() + "\n").getBytes(StandardCharsets.UTF_8);
                    digest.write(text);
                    rows++;
                    bytes += text.length;
                }
            }
        }
        digest.flush();
        return new Tally(
                rows, bytes, HexFormat.of().formatHex(digest.getMessageDigest().digest()));
    }
}
