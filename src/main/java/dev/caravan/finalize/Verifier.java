package dev.caravan.finalize;

import dev.caravan.finalize.Verification.Step;
import dev.caravan.shard.DoneRecord;
import dev.caravan.shard.Manifest;
import dev.caravan.shard.ShardForm;
import dev.caravan.store.Disk;
import dev.caravan.store.JobFiles;
import dev.caravan.store.StoreException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Proves that the merged file is what the job makes of its input: input to shards to results to merged file, each link by
 * size and checksum, and that every record is accounted for. Every file is read once; a second time only where it is
 * damaged, to say at which byte.
 */
public final class Verifier {
    /**
     * @param inputs whether the input is read too; it may have been deleted since
     * @param expectNodes at least this many host names must have taken part
     */
    public record Options(boolean inputs, int expectNodes) {
        public static final Options ALL = new Options(true, 1);
    }

    private Verifier() {}

    /** @throws StoreException if there is no manifest to start from */
    public static Verification verify(JobFiles job, Options options) {
        Manifest manifest;
        try {
            manifest = job.manifest();
        } catch (StoreException e) {
            if (!Disk.exists(job.layout().manifest())) {
                throw e;
            }
            Findings findings = new Findings("manifest");
            findings.add(null, job.layout().manifest(), String.valueOf(e.getMessage()));
            return Verification.of(List.of(findings.step("not readable")));
        }
        return verify(job, manifest, options);
    }

    private static Verification verify(JobFiles job, Manifest manifest, Options options) {
        List<Step> steps = new ArrayList<>();
        steps.add(ManifestCheck.check(job.layout(), manifest));
        steps.add(options.inputs() ? InputCheck.check(job.layout(), manifest) : new Findings("inputs").step("skipped"));
        steps.add(QuarantineCheck.check(job.layout(), manifest));
        boolean shardsAreThere = options.inputs() || manifest.shardForm() == ShardForm.FILES;
        steps.add(
                shardsAreThere
                        ? ShardCheck.check(job.layout(), manifest)
                        : new Findings("shards").step("skipped: they are ranges of the input"));
        ResultCheck results = new ResultCheck(job, manifest);
        steps.add(results.check());
        steps.add(ClaimCheck.check(job, results.records()));
        steps.add(new MergedCheck(job, manifest, results).check());
        AppendedRows.of(job.layout(), manifest)
                .ifPresent(rows -> job.merged().ifPresent(merged -> steps.add(rows.check(Path.of(merged.output())))));
        Set<String> damaged = steps.stream()
                .flatMap(step -> step.findings().stream())
                .map(Verification.Finding::file)
                .collect(Collectors.toSet());
        steps.add(new Seals(job, damaged).check());
        steps.add(nodes(job, results.records(), options.expectNodes()));
        return Verification.of(steps);
    }

    private static Step nodes(JobFiles job, List<DoneRecord> records, int expected) {
        Findings findings = new Findings("nodes");
        List<String> hosts =
                records.stream().map(DoneRecord::hostname).distinct().sorted().toList();
        if (hosts.size() < expected) {
            findings.add(
                    null,
                    job.layout().doneRecords(),
                    "expected results of at least " + expected + " host names, found " + hosts.size() + " " + hosts);
        }
        return findings.step(hosts.size() + " host names " + hosts);
    }
}
