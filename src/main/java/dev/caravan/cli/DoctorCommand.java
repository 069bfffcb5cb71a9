package dev.caravan.cli;

import dev.caravan.CaravanException;
import dev.caravan.doctor.Diagnosis;
import dev.caravan.doctor.DiagnosisText;
import dev.caravan.doctor.Effort;
import dev.caravan.doctor.RootDoctor;
import dev.caravan.doctor.Tools;
import dev.caravan.node.Identities;
import dev.caravan.settings.Settings;
import dev.caravan.shard.NodeIdentity;
import dev.caravan.store.Json;
import dev.caravan.store.Layout;
import dev.caravan.store.Probe;
import java.nio.file.Path;
import java.time.Clock;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
        name = "doctor",
        mixinStandardHelpOptions = true,
        description = {
            "Measures whether the mount of a shared root does what Caravan needs, between processes of this machine and,"
                    + " with --peers, between nodes; recommends lease and heartbeat and keeps the result under the root.",
            "Exits with 0, or with 2 where Caravan must not run."
        })
final class DoctorCommand implements Callable<Integer> {
    @Option(names = "--root", paramLabel = "DIR", required = true, description = "The shared root to measure.")
    Path root;

    @Option(
            names = "--peers",
            paramLabel = "N",
            defaultValue = "1",
            description = "How many nodes measure together, this one included: start the same command on N nodes. It"
                    + " waits 5 minutes for the others. Default: 1.")
    int peers;

    @Option(names = "--json", description = "One JSON object on stdout.")
    boolean json;

    @Mixin
    SettingsOptions settings = new SettingsOptions();

    @Override
    public Integer call() {
        if (peers < 1) {
            throw new CaravanException("--peers counts this node too: expected 1 or more, found " + peers);
        }
        Settings loaded = settings.load();
        return measure(new Layout.Root(root), loaded);
    }

    private int measure(Layout.Root shared, Settings loaded) {
        NodeIdentity who = Identities.of(loaded.text("node.id"));
        String name = loaded.text("node.id").isEmpty() ? who.hostname() : who.id();
        Tools tools = new Tools(new Probe(), HelperProcess::start, Clock.systemUTC(), System::nanoTime);
        Diagnosis diagnosis = new RootDoctor(shared, tools, Effort.USUAL).examine(name, who, peers);
        if (json) {
            System.out.println(Json.line(diagnosis));
        } else {
            System.out.print(DiagnosisText.of(diagnosis));
        }
        diagnosis.refusal().ifPresent(why -> {
            throw new CaravanException(why);
        });
        return CaravanCommand.DONE;
    }
}
