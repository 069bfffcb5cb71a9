package dev.caravan.cli;

import dev.caravan.CaravanException;
import dev.caravan.finalize.Verification;
import dev.caravan.finalize.Verifier;
import dev.caravan.store.JobFiles;
import dev.caravan.store.Json;
import dev.caravan.store.Layout;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
        name = "verify",
        mixinStandardHelpOptions = true,
        description = {
            "Proves a finished job link by link, with checksums and counts: input, shards, claims and done records,",
            "results, merged file, and that every row is accounted for. Needs no Python. An input file that is gone is",
            "named, and its fingerprint in the manifest believed.",
            "Exits with 0, or with 2 and the place of each damage: file, shard, byte and line where they can be told."
        })
final class VerifyCommand implements Callable<Integer> {
    @Option(names = "--job-dir", required = true, paramLabel = "DIR", description = "The job directory.")
    Path jobDir;

    @Option(
            names = "--expect-nodes",
            paramLabel = "N",
            defaultValue = "1",
            description = "At least this many host names must have done a shard. Default: ${DEFAULT-VALUE}.")
    int expectNodes;

    @Option(names = "--skip-input", description = "Do not read the input again; it may have been deleted.")
    boolean skipInput;

    @Option(names = "--json", description = "One JSON object on stdout.")
    boolean json;

    @Override
    public Integer call() {
        JobFiles job = new JobFiles(new Layout.Job(jobDir));
        if (job.isCleaned()) {
            throw new CaravanException(
                    "the job " + job.layout().path()
                            + " was cleaned: shards and results were removed, so there is nothing to verify the merged file by");
        }
        Verification verification = Verifier.verify(job, new Verifier.Options(!skipInput, expectNodes));
        if (json) {
            System.out.println(Json.line(verification));
        } else {
            for (Verification.Step step : verification.steps()) {
                System.out.printf(
                        "%-4s  %-10s %s%s%n",
                        step.ok() ? "ok" : "BAD",
                        step.name(),
                        step.summary(),
                        step.sha256() == null ? "" : "; sha256 " + step.sha256());
            }
            verification.findings().forEach(finding -> System.out.println("  " + finding));
            System.out.println(verification.ok() ? "PASS" : "FAIL");
        }
        return verification.ok() ? CaravanCommand.DONE : CaravanCommand.FAILED;
    }
}
