package dev.caravan.cli;

import dev.caravan.intake.Rerun;
import dev.caravan.node.Node;
import dev.caravan.shard.Manifest;
import dev.caravan.store.JobFiles;
import dev.caravan.store.Json;
import dev.caravan.store.Layout;
import java.nio.file.Path;
import java.time.Clock;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
        name = "rerun",
        mixinStandardHelpOptions = true,
        description = {
            "Makes a new job of an old one whose quarantined lines were repaired: each record at its place, the results"
                    + " of shards that get none reused. The old job stays as it is.",
            "Copy quarantine/lines.txt of the old job, repair its lines one by one, and make those blank that are to"
                    + " stay quarantined. Afterwards: caravan worker and caravan merge on the new job."
        })
final class RerunCommand implements Callable<Integer> {
    @Option(names = "--quarantined", required = true, description = "What is run again: the quarantined lines.")
    boolean quarantined;

    @Mixin
    SettingsOptions settings = new SettingsOptions();

    @Option(names = "--job-dir", required = true, paramLabel = "DIR", description = "The old job directory.")
    Path jobDir;

    @Option(names = "--new-job-dir", required = true, paramLabel = "DIR", description = "The new one; a free name.")
    Path newJobDir;

    @Option(
            names = "--repaired",
            required = true,
            paramLabel = "FILE",
            description = "The repaired lines, as many as were quarantined and in their order.")
    Path repaired;

    @Option(
            names = "--output",
            paramLabel = "FILE",
            description =
                    "The merged file, or the folder of parts. Default: merged.jsonl, or merged, in the new job directory.")
    @Nullable
    Path output;

    @Option(names = "--json", description = "The new manifest as one JSON object on stdout.")
    boolean json;

    @Override
    public Integer call() {
        JobFiles from = new JobFiles(new Layout.Job(jobDir));
        Layout.Job to = new Layout.Job(newJobDir);
        Rerun.Made made = Rerun.run(
                Clock.systemUTC(),
                new Rerun.Request(
                        from.layout(),
                        to,
                        repaired,
                        output == null ? to.outputByDefault(from.manifest().outputForm()) : output,
                        Node.scratch(settings.load())));
        Manifest manifest = made.manifest();
        if (json) {
            System.out.println(Json.line(manifest));
        } else {
            System.out.printf(
                    "prepared: %d repaired records in %d rows, %d of %d shards keep their results, %d bad records stay"
                            + " quarantined (%s)%n",
                    manifest.repair() == null ? 0 : manifest.repair().rows(),
                    manifest.totalRows(),
                    made.reused(),
                    manifest.numShards(),
                    manifest.quarantined(),
                    to.path());
        }
        return CaravanCommand.DONE;
    }
}
