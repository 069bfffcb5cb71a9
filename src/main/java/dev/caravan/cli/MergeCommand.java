package dev.caravan.cli;

import dev.caravan.finalize.MergeRequest;
import dev.caravan.finalize.Merger;
import dev.caravan.finalize.SinkCollection;
import dev.caravan.node.Identities;
import dev.caravan.node.PythonLink;
import dev.caravan.report.ReportPage;
import dev.caravan.shard.MergeRecord;
import dev.caravan.status.StatusReader;
import dev.caravan.store.JobFiles;
import dev.caravan.store.Layout;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
        name = "merge",
        mixinStandardHelpOptions = true,
        description = "Verifies the results of a finished job and merges them in manifest order.")
final class MergeCommand implements Callable<Integer> {
    @Option(names = "--job-dir", required = true, paramLabel = "DIR", description = "The job directory.")
    Path jobDir;

    @Option(
            names = "--output",
            paramLabel = "FILE",
            description =
                    "The merged file, or the folder of parts where the job asks for these. Default: what the job was prepared with.")
    @Nullable
    Path output;

    @Option(
            names = "--overwrite",
            description = "Replace the merged file if it exists; a folder of parts is never replaced.")
    boolean overwrite;

    @Option(
            names = "--lock-timeout-secs",
            paramLabel = "N",
            description = "Accepted for scripts of Data-Juicer's elastic sharding; a merge waits for no lock.")
    @Nullable
    Long lockTimeoutSecs;

    @Option(names = "--json", description = "The merge record as one JSON object on stdout.")
    boolean json;

    @Mixin
    SettingsOptions settings = new SettingsOptions();

    @Override
    public Integer call() throws IOException {
        JobFiles job = new JobFiles(new Layout.Job(jobDir));
        Path target = output == null ? Path.of(job.manifest().output()) : output;
        MergeRecord merged = new Merger(Clock.systemUTC())
                .merge(new MergeRequest(
                        job, target, overwrite, Identities.of("").id(), () -> true));
        new SinkCollection(request -> PythonLink.of(settings.load(), false).collect(request)).of(job, () -> {});
        Results.print(merged, json);
        ReportPage.write(
                job,
                new StatusReader(job.layout(), Duration.ZERO).read(),
                Clock.systemUTC().instant());
        return CaravanCommand.DONE;
    }
}
