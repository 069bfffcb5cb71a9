package dev.caravan.cli;

import dev.caravan.finalize.Cleanup;
import dev.caravan.node.Identities;
import dev.caravan.shard.NodeIdentity;
import dev.caravan.store.Disk;
import dev.caravan.store.JobFiles;
import dev.caravan.store.Layout;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
        name = "clean",
        mixinStandardHelpOptions = true,
        description = {
            "Removes shards and attempts of jobs that are done or cancelled; merged file, records and report stay.",
            "Without --force it only tells what it would remove."
        })
final class CleanCommand implements Callable<Integer> {
    @Option(names = "--root", required = true, paramLabel = "DIR", description = "The shared root.")
    Path root;

    @Option(
            names = "--older-than",
            paramLabel = "TIME",
            defaultValue = "7d",
            converter = LeaveOptions.DurationConverter.class,
            description = "Only jobs that ended this long ago. Default: ${DEFAULT-VALUE}.")
    Duration olderThan;

    @Option(names = "--force", description = "Remove it.")
    boolean force;

    @Override
    public Integer call() throws IOException {
        NodeIdentity who = Identities.of("");
        long removed = 0;
        for (String name : Disk.list(new Layout.Root(root).jobs())) {
            Layout.Job job = new Layout.Root(root).job(name);
            if (Layout.isHidden(name) || !Disk.exists(job.manifest())) {
                continue;
            }
            Cleanup cleanup = new Cleanup(new JobFiles(job), Clock.systemUTC());
            Cleanup.Verdict verdict = cleanup.judge(olderThan);
            if (verdict instanceof Cleanup.Verdict.Removable found) {
                if (force) {
                    cleanup.remove(who);
                }
                removed += found.bytes();
                System.out.printf(
                        "%s  %s: %d MiB (%s at %s)%n",
                        force ? "removed" : "would remove",
                        job.name(),
                        found.bytes() >> 20,
                        found.state(),
                        found.endedAt());
            } else if (verdict instanceof Cleanup.Verdict.Kept kept) {
                System.out.printf("kept  %s: %s%n", job.name(), kept.why());
            }
        }
        System.out.printf("%s%d MiB%n", force ? "removed " : "a dry run; with --force: ", removed >> 20);
        return CaravanCommand.DONE;
    }
}
