package dev.caravan.cli;

import dev.caravan.node.Node;
import dev.caravan.node.NodePlan;
import dev.caravan.node.PythonLink;
import dev.caravan.settings.Settings;
import dev.caravan.shard.Execution;
import dev.caravan.shard.Manifest;
import dev.caravan.shard.Policy;
import dev.caravan.status.JobStatus;
import dev.caravan.status.StatusReader;
import dev.caravan.status.StatusText;
import dev.caravan.store.JobFiles;
import dev.caravan.store.Layout;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.OptionalInt;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
        name = "worker",
        mixinStandardHelpOptions = true,
        description = {
            "Works on the shards of a prepared job until none is left.",
            "Exits with 0, or with 2 if a shard has failed for good."
        })
final class WorkerCommand implements Callable<Integer> {
    @Option(names = "--job-dir", required = true, paramLabel = "DIR", description = "The job directory.")
    Path jobDir;

    @Option(
            names = "--max-shards",
            paramLabel = "N",
            description = "Leave after this many claims; failed attempts count. Default: no limit.")
    @Nullable
    Integer maxShards;

    @Option(
            names = "--lock-timeout-secs",
            paramLabel = "N",
            description = "Longest time of one attempt on this node. Default: the manifest's.")
    @Nullable
    Long lockTimeoutSecs;

    @Option(names = "--max-retries", paramLabel = "N", description = "Retries of class data. Default: the manifest's.")
    @Nullable
    Integer maxRetries;

    @Option(names = "--poll-interval-secs", paramLabel = "N", description = "Default: the setting claim.poll.")
    @Nullable
    Long pollIntervalSecs;

    @Option(
            names = "--ray-address",
            paramLabel = "ADDRESS",
            description = "local, warm or auto. Default: the manifest's.")
    @Nullable
    String rayAddress;

    @Option(
            names = "--allow-version-mismatch",
            description = "Work also where the job was prepared with another version of Data-Juicer.")
    boolean allowVersionMismatch;

    @Mixin
    LeaveOptions leave = new LeaveOptions();

    @Mixin
    SettingsOptions settings = new SettingsOptions();

    @Override
    public Integer call() throws IOException {
        if (pollIntervalSecs != null) {
            System.setProperty("caravan.claim.poll", pollIntervalSecs + "s");
        }
        Settings loaded = settings.load();
        Layout.Job job = new Layout.Job(jobDir);
        new JobFiles(job).manifest();
        Checks.job(job, loaded);
        OptionalInt most = maxShards == null ? OptionalInt.empty() : OptionalInt.of(maxShards);
        boolean toldToLeave = new Node(
                        loaded,
                        NodePlan.forWorker(job, most, this::overridden).within(leave.limit(loaded)),
                        PythonLink.of(loaded, allowVersionMismatch))
                .run();
        JobStatus status = new StatusReader(job, loaded.duration("claim.lease")).read();
        if (status.shards().failed() > 0 || status.state() == JobStatus.State.CANCELLED) {
            System.err.print(StatusText.of(status, false));
            return CaravanCommand.FAILED;
        }
        boolean unsettled = status.shards().done() < status.shards().total();
        return toldToLeave && unsettled ? CaravanCommand.NOT_FINISHED : CaravanCommand.DONE;
    }

    private Manifest overridden(Manifest manifest) {
        Execution execution = manifest.execution();
        Execution.Ray ray = execution.ray();
        Policy policy = manifest.policy();
        return manifest.with(
                execution.with(new Execution.Ray(
                        rayAddress == null ? ray.address() : JobOptions.checkedRayAddress(rayAddress),
                        ray.numCpus(),
                        ray.numGpus(),
                        ray.objectStoreMemory())),
                policy.with(
                        maxRetries == null ? policy.maxRetries() : maxRetries,
                        lockTimeoutSecs == null ? policy.attemptTimeout() : Duration.ofSeconds(lockTimeoutSecs)));
    }
}
