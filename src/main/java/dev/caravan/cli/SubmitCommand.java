package dev.caravan.cli;

import dev.caravan.CaravanException;
import dev.caravan.intake.Inbox;
import dev.caravan.job.JobDescriptor;
import dev.caravan.node.KnownNodes;
import dev.caravan.shard.GpuDemand;
import dev.caravan.status.JobStatus;
import dev.caravan.store.Disk;
import dev.caravan.store.JobFiles;
import dev.caravan.store.Layout;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
        name = "submit",
        mixinStandardHelpOptions = true,
        description = "Checks a job descriptor and drops it into the inbox in one step.")
final class SubmitCommand implements Callable<Integer> {
    @Parameters(paramLabel = "JOB.yaml", description = "The job descriptor; relative paths start at its folder.")
    Path descriptor;

    @Option(names = "--root", required = true, paramLabel = "DIR", description = "The shared root.")
    Path root;

    @Option(names = "--wait", description = "Wait until the job has ended; exit with 0 or 2.")
    boolean wait;

    @Option(names = "--json", description = "With --wait: the merge record as one JSON object on stdout.")
    boolean json;

    @Mixin
    SettingsOptions settings = new SettingsOptions();

    @Override
    public Integer call() {
        JobDescriptor asked = Descriptors.read(descriptor);
        Layout.Root shared = new Layout.Root(root);
        refuseIfNoNodeHas(asked.execution().ray().gpuDemand(), shared);
        Inbox inbox = new Inbox(shared);
        Path dropped = inbox.submit(asked);
        System.err.println("submitted " + asked.name() + " (" + dropped + ")");
        if (!wait) {
            return CaravanCommand.DONE;
        }
        Layout.Job job = shared.job(asked.name());
        JobStatus ended = Waiting.untilEnded(
                job,
                settings.load().duration("claim.lease"),
                () -> !Disk.exists(dropped) && isAccepted(shared, dropped),
                () -> {});
        return Results.report(ended, new JobFiles(job), json);
    }

    /** A file that is copied into the inbox waits for a larger node; who submits learns it at once. */
    private static void refuseIfNoNodeHas(GpuDemand demand, Layout.Root root) {
        try {
            new KnownNodes(root).shortage(demand).ifPresent(known -> {
                throw new CaravanException("a shard asks for GPUs: " + demand + ", and no node has as many (" + known
                        + "): lower ray.num_gpus, or start a node that has them first");
            });
        } catch (IOException e) {
            throw new CaravanException("cannot read " + root.nodes() + ": " + e, e);
        }
    }

    /** Asked before the job is looked at, which may be another of the same name. */
    private static boolean isAccepted(Layout.Root root, Path dropped) {
        Path error = root.errorOf(root.rejected().resolve(dropped.getFileName()));
        try {
            if (Disk.exists(error)) {
                throw new CaravanException("rejected: " + new String(Disk.read(error), StandardCharsets.UTF_8).strip());
            }
            return true;
        } catch (IOException e) {
            throw new CaravanException("cannot read " + error + ": " + e, e);
        }
    }
}
