package dev.caravan.cli;

import dev.caravan.CaravanException;
import dev.caravan.intake.Inbox;
import dev.caravan.job.JobDescriptor;
import dev.caravan.python.PythonEnvironment;
import dev.caravan.settings.Settings;
import dev.caravan.status.JobStatus;
import dev.caravan.store.Disk;
import dev.caravan.store.JobFiles;
import dev.caravan.store.Layout;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
        name = "quickstart",
        mixinStandardHelpOptions = true,
        description = {
            "Runs the sample job on two node processes of this machine and shows the result.",
            "The first time it sets up Python with Data-Juicer and Ray."
        })
final class QuickstartCommand implements Callable<Integer> {
    private static final int NODES = 2;
    private static final List<String> SAMPLE = List.of("job.yaml", "recipe.yaml", "data.jsonl");

    @Option(names = "--root", paramLabel = "DIR", description = "The shared root. Default: a new temporary folder.")
    @Nullable
    Path root;

    @Option(names = "--json", description = "The merge record as one JSON object on stdout.")
    boolean json;

    @Mixin
    SettingsOptions settings = new SettingsOptions();

    @Override
    public Integer call() throws IOException {
        Settings loaded = settings.load();
        PythonEnvironment.of(loaded.text("python.executable")).setup(System.err::println);
        Layout.Root shared = new Layout.Root(root == null ? Disk.newTemporaryDirectory("caravan-quickstart-") : root);
        System.err.println("shared root: " + shared.path());
        JobDescriptor asked = Descriptors.read(unpack(shared));
        new Inbox(shared).submit(asked);
        System.err.println("dropped job '" + asked.name() + "' into " + shared.inbox());
        List<Process> nodes = new ArrayList<>();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> nodes.forEach(Process::destroy)));
        for (int i = 1; i <= NODES; i++) {
            Path log = shared.path().resolve("node-" + i + ".log");
            nodes.add(NodeProcess.start(shared.path(), log));
            System.err.println("started node process " + i + " (log " + log + ")");
        }
        Layout.Job job = shared.job(asked.name());
        JobStatus ended = Waiting.untilEnded(
                job,
                loaded.duration("claim.lease"),
                () -> Disk.exists(job.coordination()),
                () -> requireANode(nodes, shared));
        return Results.report(ended, new JobFiles(job), json);
    }

    private static void requireANode(List<Process> nodes, Layout.Root root) {
        if (nodes.stream().noneMatch(Process::isAlive)) {
            throw new CaravanException(
                    "both node processes have ended before the job: see node-*.log in " + root.path());
        }
    }

    /** Copies the packaged sample beside the inbox. @return its descriptor */
    private static Path unpack(Layout.Root root) throws IOException {
        Path folder = root.path().resolve("samples").resolve("quickstart");
        Disk.createDirectories(folder);
        for (String name : SAMPLE) {
            try (InputStream in = QuickstartCommand.class.getResourceAsStream("/samples/quickstart/" + name)) {
                if (in == null) {
                    throw new CaravanException("the sample " + name + " is missing from this build of Caravan");
                }
                Disk.replace(folder.resolve(name), in.readAllBytes());
            }
        }
        return folder.resolve(SAMPLE.get(0));
    }
}
