package dev.caravan.cli;

import dev.caravan.intake.Preparation;
import dev.caravan.intake.Prepared;
import dev.caravan.intake.Progress;
import dev.caravan.node.KnownNodes;
import dev.caravan.node.Node;
import dev.caravan.node.PythonLink;
import dev.caravan.settings.Settings;
import dev.caravan.store.Json;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
        name = "prepare",
        mixinStandardHelpOptions = true,
        description = "Checks recipe and input and cuts the input into shards in a new job directory.")
final class PrepareCommand implements Callable<Integer> {
    @Mixin
    JobOptions job = new JobOptions();

    @Option(
            names = "--poll-interval-secs",
            paramLabel = "N",
            description = "Accepted for scripts; workers poll as the setting claim.poll says.")
    @Nullable
    Long pollIntervalSecs;

    @Option(names = "--json", description = "The manifest as one JSON object on stdout.")
    boolean json;

    @Mixin
    SettingsOptions settings = new SettingsOptions();

    @Override
    public Integer call() {
        Settings loaded = settings.load();
        PythonLink python = PythonLink.of(loaded, false);
        Prepared prepared = new Preparation(
                        python::recipe,
                        python,
                        () -> false,
                        loaded.size("intake.shard_bytes"),
                        where -> KnownNodes.slots(where, loaded),
                        Node.scratch(loaded))
                .prepare(job.descriptor(null), job.job(), () -> true, Progress.NONE);
        if (json) {
            System.out.println(Json.line(prepared.manifest()));
        } else {
            System.out.printf(
                    "%s: %d rows in %d shards%s (%s)%n",
                    prepared instanceof Prepared.Made ? "prepared" : "Job is already prepared and unchanged",
                    prepared.manifest().totalRows(),
                    prepared.manifest().numShards(),
                    prepared.manifest().quarantined() == 0
                            ? ""
                            : ", " + prepared.manifest().quarantined() + " bad records quarantined",
                    job.job().path());
        }
        return CaravanCommand.DONE;
    }
}
