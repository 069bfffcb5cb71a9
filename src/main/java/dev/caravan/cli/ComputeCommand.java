package dev.caravan.cli;

import dev.caravan.CaravanException;
import dev.caravan.claim.JobControl;
import dev.caravan.intake.ScriptCheck;
import dev.caravan.job.CanonicalDescriptor;
import dev.caravan.job.JobDescriptor;
import dev.caravan.node.Node;
import dev.caravan.node.NodePlan;
import dev.caravan.node.PythonLink;
import dev.caravan.settings.Settings;
import dev.caravan.store.Disk;
import dev.caravan.store.GenerationFiles;
import dev.caravan.store.JobFiles;
import dev.caravan.store.Layout;
import dev.caravan.store.LocalFolder;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Clock;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
        name = "compute",
        mixinStandardHelpOptions = true,
        description = {
            "Computes what a Python file plans: plan() yields items with ids, execute(item) makes a result of each.",
            "Works alone; below torchrun, mpirun or srun on all hosts together; and, as a job descriptor with"
                    + " engine: plan-execute, on the nodes of a shared root.",
            "Ctrl-C keeps all results; items that were not done are cancelled.",
            ""
        },
        footer = {"", "Exit codes: 0 all items succeeded, 1 some failed, 2 error, 130 interrupted."})
final class ComputeCommand implements Callable<Integer> {
    private static final int WORKERS = 4;

    @Mixin
    ComputeOptions task = new ComputeOptions();

    @Option(
            names = "--python",
            paramLabel = "PATH",
            description = "The Python that runs the script, with py-data-juicer and ray. Default: the setting"
                    + " python.executable.")
    @Nullable
    String python;

    @Option(
            names = "--results",
            paramLabel = "FORM",
            description = "What is printed on stdout: ndjson (a line for each item), summary or quiet. Default: ndjson,"
                    + " with --observe quiet.")
    ComputeResults.@Nullable Form results;

    @Option(
            names = "--sink",
            paramLabel = "DIR",
            description = "Folder for ready.ndjson, failures.ndjson, checkpoint.json and summary.json, on the shared"
                    + " directory where several hosts take part. Default: nothing is kept.")
    @Nullable
    Path sink;

    @Option(
            names = "--job-id",
            paramLabel = "ID",
            description =
                    "Names this run; the same on all hosts. The same again goes on where it was left, with the plan"
                            + " that it had. Default: what the scheduler or torchrun says, else a new one.")
    @Nullable
    String jobId;

    @Option(names = "--observe", description = "Show on stderr how many items are done.")
    boolean observe;

    @Option(names = "--check", description = "Look at the script and run plan(), up to --limit items; execute nothing.")
    boolean check;

    @Mixin
    SettingsOptions settings = new SettingsOptions();

    @Override
    public Integer call() throws IOException {
        if (python != null) {
            System.setProperty("caravan.python.executable", python);
        }
        System.setProperty("caravan.node.slots", "1");
        Settings loaded = settings.load();
        Map<String, String> environment = System.getenv();
        Optional<Launcher> launcher = Launcher.of(environment);
        if (launcher.filter(Launcher::isExtra).isPresent()) {
            return CaravanCommand.DONE; // the first process of this host has a worker for each of them
        }
        ComputeRun run = ComputeRun.of(jobId, environment, sink != null, Clock.systemUTC());
        try (LocalFolder scratch = LocalFolder.in(Node.scratch(loaded))) {
            Path collected = sink == null ? scratch.newFolder("sink") : sink;
            Layout.Sink target = new Layout.Sink(collected);
            JobDescriptor asked = task.descriptor(
                    run.id(), target.path(), run.localProcesses().orElse(WORKERS), run.alone());
            PythonLink link = PythonLink.of(loaded, false);
            if (check) {
                System.out.println(new String(
                        ScriptCheck.plan(link, asked.execution(), new Layout.Job(scratch.newFolder("check"))),
                        StandardCharsets.UTF_8));
                return CaravanCommand.DONE;
            }
            refuseOtherResults(target, target.run(run.id()));
            return compute(loaded, asked, run, target, link);
        }
    }

    private void refuseOtherResults(Layout.Sink target, Layout.Job job) {
        boolean used = Disk.exists(target.ready()) || Disk.exists(target.failures());
        if (used && !task.resume && !Disk.exists(job.path())) {
            throw new CaravanException("the sink " + target.path()
                    + " holds results of an earlier run: go on with it by" + " --resume, or name another --sink");
        }
    }

    private int compute(Settings loaded, JobDescriptor asked, ComputeRun run, Layout.Sink target, PythonLink link)
            throws IOException {
        Layout.Job job = target.run(run.id());
        Disk.createDirectories(target.runs());
        Checks.job(job, loaded);
        Layout.Generation generation = job.generation("compute");
        if (!new GenerationFiles(generation).agreeOn(CanonicalDescriptor.bytes(asked))) {
            throw new CaravanException("run " + job.name() + " of " + target.path()
                    + " was asked for something else before"
                    + " (" + generation.descriptor() + "): give all hosts the same options, and a new run a --job-id of"
                    + " its own");
        }
        Node node = new Node(loaded, NodePlan.forRun(job, generation, OptionalInt.empty()), link);
        JobFiles files = new JobFiles(job);
        AtomicBoolean interrupted = new AtomicBoolean();
        CtrlC.first(() -> {
            interrupted.set(true);
            cancel(files, node);
            node.leave("Ctrl-C");
        });
        try (Regularly progress = observe ? Regularly.every(2, new ComputeProgress(files, System.err)::show) : null) {
            node.run();
        }
        return new ComputeReport(files, target, generation, link).print(form(), run.first(), interrupted.get());
    }

    private static void cancel(JobFiles files, Node node) {
        try {
            new JobControl(files, node.identity(), Clock.systemUTC()).cancel();
        } catch (CaravanException | IOException notRunning) {
            System.err.println("caravan: " + notRunning.getMessage());
        }
    }

    private ComputeResults.Form form() {
        return results != null ? results : observe ? ComputeResults.Form.quiet : ComputeResults.Form.ndjson;
    }
}
