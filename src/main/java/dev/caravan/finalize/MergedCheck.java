package dev.caravan.finalize;

import dev.caravan.finalize.Verification.Step;
import dev.caravan.jsonl.Sha256;
import dev.caravan.jsonl.Tally;
import dev.caravan.shard.DoneRecord;
import dev.caravan.shard.Manifest;
import dev.caravan.shard.MergeRecord;
import dev.caravan.shard.MergeRecord.Part;
import dev.caravan.shard.OutputForm;
import dev.caravan.shard.PartsIndex;
import dev.caravan.store.Disk;
import dev.caravan.store.JobFiles;
import dev.caravan.store.Json;
import dev.caravan.store.Layout;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Whether the output is all results in manifest order, and nothing else. */
final class MergedCheck {
    private final JobFiles job;
    private final Manifest manifest;
    private final ResultCheck results;
    private final Findings findings = new Findings("merged");
    private final RawTally raw = new RawTally();

    MergedCheck(JobFiles job, Manifest manifest, ResultCheck results) {
        this.job = job;
        this.manifest = manifest;
        this.results = results;
    }

    Step check() {
        Optional<MergeRecord> record = findings.fact(
                null,
                job.layout().mergeRecord(),
                job::merged,
                () -> "expected the record of a merge, found none; run 'caravan merge'");
        if (record.isEmpty()) {
            return findings.step("not merged");
        }
        record(record.get());
        Path output = Path.of(record.get().output());
        Optional<Tally> found = findings.read(
                null,
                output,
                () -> manifest.outputForm() == OutputForm.PARTS
                        ? parts(output, record.get())
                        : file(output, record.get()));
        return findings.step(
                output + ": "
                        + found.map(tally -> tally.rows() + " rows, " + tally.bytes() + " bytes")
                                .orElse("not readable")
                        + " of " + record.get().shards().size() + " shards",
                found.map(Tally::sha256).orElse(null));
    }

    /** merge.json against the done records and the results as they were read. */
    private void record(MergeRecord record) {
        Path file = job.layout().mergeRecord();
        findings.same(null, file, "quarantined", manifest.quarantined(), record.quarantined());
        List<DoneRecord> expected = results.records();
        findings.same(
                null, file, "number of shards", expected.size(), record.shards().size());
        for (int i = 0; i < Math.min(expected.size(), record.shards().size()); i++) {
            DoneRecord done = expected.get(i);
            Part part = record.shards().get(i);
            findings.same(
                    done.shardId(),
                    file,
                    "part",
                    new Part(
                            done.shardId(),
                            done.rows(),
                            done.sizeBytes(),
                            done.sha256(),
                            done.node(),
                            part.recordSha256()),
                    part);
        }
        results.concatenation().ifPresent(all -> {
            Tally recorded = new Tally(record.rows(), record.sizeBytes(), record.sha256());
            findings.same(null, file, "all results to be", Concatenation.text(all), Concatenation.text(recorded));
            findings.same(null, file, "ledger", MergeRecords.ledger(expected), record.ledger());
        });
    }

    /** Each part, then whether the index tells of them and nothing else lies beside them. */
    private Tally parts(Path output, MergeRecord record) throws IOException {
        MessageDigest all = Sha256.digest();
        long rows = 0;
        long bytes = 0;
        Set<String> names =
                new HashSet<>(Set.of(Layout.index(output).getFileName().toString()));
        List<PartsIndex.Part> index = new ArrayList<>();
        for (Part part : record.shards()) {
            Path file = Layout.part(output, part.id());
            String name = file.getFileName().toString();
            names.add(name);
            index.add(new PartsIndex.Part(name, part.rows(), part.bytes(), part.sha256()));
            Optional<Tally> found = findings.read(part.id(), file, () -> raw.of(file, all));
            if (found.isPresent()) {
                rows += found.get().rows();
                bytes += found.get().bytes();
                if (!found.get().equals(new Tally(part.rows(), part.bytes(), part.sha256()))) {
                    damaged(file, part, 0, found.get());
                }
            }
        }
        byte[] expected = Json.bytes(new PartsIndex(record.rows(), record.sizeBytes(), record.sha256(), index));
        findings.read(null, Layout.index(output), () -> {
            Tally found = raw.of(Layout.index(output));
            findings.same(null, Layout.index(output), "sha256", Sha256.hex(expected), found.sha256());
            return found;
        });
        for (String name : Disk.list(output)) {
            if (!names.contains(name)) {
                findings.add(null, output.resolve(name), "expected the parts and their index alone, found this too");
            }
        }
        return new Tally(rows, bytes, HexFormat.of().formatHex(all.digest()));
    }

    /** The merged file part by part, so that damage is known by its shard. */
    private Tally file(Path output, MergeRecord record) throws IOException {
        MessageDigest all = Sha256.digest();
        long rows = 0;
        long bytes = 0;
        boolean located = false;
        try (InputStream in = Disk.open(output)) {
            for (Part part : record.shards()) {
                Tally found = raw.next(in, part.bytes(), all);
                if (!found.equals(new Tally(part.rows(), part.bytes(), part.sha256()))) {
                    damaged(output, part, bytes, found);
                    located = true;
                }
                rows += found.rows();
                bytes += found.bytes();
            }
            Tally rest = raw.next(in, Long.MAX_VALUE, all);
            rows += rest.rows();
            bytes += rest.bytes();
        }
        Tally whole = new Tally(rows, bytes, HexFormat.of().formatHex(all.digest()));
        if (!located) {
            findings.tally(
                    null, output, new Tally(record.rows(), record.sizeBytes(), record.sha256()), whole, () -> "");
        }
        return whole;
    }

    private void damaged(Path output, Part part, long start, Tally found) throws IOException {
        findings.add(
                part.id(),
                output,
                "in bytes " + start + " to " + (start + part.bytes()) + " expected "
                        + Concatenation.text(new Tally(part.rows(), part.bytes(), part.sha256())) + ", found "
                        + Concatenation.text(found) + firstDifference(output, part, start));
    }

    private String firstDifference(Path output, Part part, long start) throws IOException {
        Optional<Path> result = results.intact(part.id());
        if (result.isEmpty()) {
            return "";
        }
        return FirstDifference.between(result.get(), output, start).text("the result " + result.get(), start)
                + " of the result";
    }
}
