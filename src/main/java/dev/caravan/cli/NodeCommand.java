package dev.caravan.cli;

import dev.caravan.node.Node;
import dev.caravan.node.NodePlan;
import dev.caravan.node.PythonLink;
import dev.caravan.settings.Settings;
import dev.caravan.status.JobStatus;
import dev.caravan.status.StatusReader;
import dev.caravan.status.StatusText;
import dev.caravan.store.Layout;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
        name = "node",
        mixinStandardHelpOptions = true,
        description = {
            "Works for all jobs under a shared root. Start one on each machine.",
            "With --once it exits with 0, or with 2 if a job under the root has failed."
        })
final class NodeCommand implements Callable<Integer> {
    @Option(names = "--root", required = true, paramLabel = "DIR", description = "The shared root; made if absent.")
    Path root;

    @Option(names = "--slots", paramLabel = "N", description = "Shards at once. Default: the setting node.slots.")
    @Nullable
    Integer slots;

    @Option(names = "--once", description = "Leave when every job under the root has ended.")
    boolean once;

    @Mixin
    LeaveOptions leave = new LeaveOptions();

    @Mixin
    SettingsOptions settings = new SettingsOptions();

    @Override
    public Integer call() throws IOException {
        if (slots != null) {
            System.setProperty("caravan.node.slots", slots.toString());
        }
        Settings loaded = settings.load();
        Checks.root(new Layout.Root(root), loaded);
        Node node = new Node(
                loaded,
                NodePlan.forRoot(new Layout.Root(root), once).within(leave.limit(loaded)),
                PythonLink.of(loaded, false));
        node.run();
        return once ? outcome(node.jobs(), loaded.duration("claim.lease")) : CaravanCommand.DONE;
    }

    private static int outcome(List<Layout.Job> jobs, Duration staleAfter) throws IOException {
        int exitCode = CaravanCommand.DONE;
        for (Layout.Job job : jobs) {
            JobStatus status = new StatusReader(job, staleAfter).read();
            if (status.state() == JobStatus.State.FAILED) {
                System.err.print(StatusText.of(status, false));
                exitCode = CaravanCommand.FAILED;
            }
        }
        return exitCode;
    }
}
