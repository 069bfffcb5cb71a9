package dev.caravan.finalize;

import dev.caravan.finalize.Verification.Step;
import dev.caravan.shard.DoneRecord;
import dev.caravan.shard.Manifest;
import dev.caravan.shard.ShardForm;
import dev.caravan.store.JobFiles;
import java.util.ArrayList;
import java.util.List;

/**
 * Proves that the merged file is what the job makes of its input: input to shards to results to merged file, each link by
 * size and checksum. Every file is read once; a second time only where it is damaged, to say at which byte.
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

    /** @throws dev.caravan.store.StoreException if there is no readable manifest to start from */
    public static Verification verify(JobFiles job, Options options) {
        Manifest manifest = job.manifest();
        List<Step> steps = new ArrayList<>();
        steps.add(ManifestCheck.check(job.layout(), manifest));
        steps.add(options.inputs() ? InputCheck.check(manifest) : new Findings("inputs").step("skipped"));
        steps.add(QuarantineCheck.check(job.layout(), manifest));
        boolean shardsAreThere = options.inputs() || manifest.shardForm() == ShardForm.FILES;
        steps.add(
                shardsAreThere
                        ? ShardCheck.check(job.layout(), manifest)
                        : new Findings("shards").step("skipped: they are ranges of the input"));
        ResultCheck results = new ResultCheck(job, manifest);
        steps.add(results.check());
        steps.add(new MergedCheck(job, manifest, results).check());
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
