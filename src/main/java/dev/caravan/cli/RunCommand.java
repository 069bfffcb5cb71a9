package dev.caravan.cli;

import dev.caravan.CaravanException;
import dev.caravan.job.CanonicalDescriptor;
import dev.caravan.job.JobDescriptor;
import dev.caravan.jsonl.Sha256;
import dev.caravan.node.Node;
import dev.caravan.node.NodePlan;
import dev.caravan.node.PythonLink;
import dev.caravan.settings.Settings;
import dev.caravan.shard.RoleResult;
import dev.caravan.status.JobStatus;
import dev.caravan.status.StatusReader;
import dev.caravan.store.Disk;
import dev.caravan.store.GenerationFiles;
import dev.caravan.store.JobFiles;
import dev.caravan.store.Layout;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
        name = "run",
        aliases = "dlc",
        mixinStandardHelpOptions = true,
        description = {
            "Runs one job from input to merged file, without an inbox. Start the same command on every node:",
            "one prepares, all work, one merges, and all exit with the same code.",
            "",
            "Of several processes that torchrun, mpirun or srun starts on one host the first works, the others exit with 0.",
            "configs/schedulers/ has a template for each scheduler.",
            ""
        })
final class RunCommand implements Callable<Integer> {
    private static final int SHARDS_BY_DEFAULT = 4;

    @Mixin
    JobOptions job = new JobOptions();

    @Option(
            names = "--run-id",
            paramLabel = "ID",
            description = "Tells this submission from earlier ones of the same job directory; the same on all nodes."
                    + " Default: the first that is set of $PAI_JOB_ID, $DLC_JOB_ID, $JOB_ID, $SLURM_ARRAY_JOB_ID,"
                    + " $SLURM_JOB_ID, else 'default'.")
    @Nullable
    String runId;

    @Option(
            names = "--nodes",
            paramLabel = "N",
            description = "How many nodes take part; enforced by --require-all-nodes only.")
    @Nullable
    Integer nodes;

    @Option(
            names = "--require-all-nodes",
            description =
                    "Caps each node's claims so that each of --nodes hosts must do a shard, and fails if one did not.")
    boolean requireAllNodes;

    @Option(
            names = "--wait-timeout-secs",
            paramLabel = "N",
            description = "How long to wait for other nodes with nothing to do. Default: the setting run.wait.")
    @Nullable
    Long waitTimeoutSecs;

    @Option(names = "--poll-interval-secs", paramLabel = "N", description = "Default: the setting claim.poll.")
    @Nullable
    Long pollIntervalSecs;

    @Option(names = "--json", description = "The merge record as one JSON object on stdout.")
    boolean json;

    @Mixin
    LeaveOptions leave = new LeaveOptions();

    @Mixin
    SettingsOptions settings = new SettingsOptions();

    @Override
    public Integer call() throws IOException {
        if (waitTimeoutSecs != null) {
            System.setProperty("caravan.run.wait", waitTimeoutSecs + "s");
        }
        if (pollIntervalSecs != null) {
            System.setProperty("caravan.claim.poll", pollIntervalSecs + "s");
        }
        Settings loaded = settings.load();
        JobDescriptor asked = job.descriptor(SHARDS_BY_DEFAULT);
        Launcher.refuseMpiLauncherAlone(System.getenv());
        Optional<Launcher> launcher = Launcher.of(System.getenv());
        if (launcher.filter(Launcher::isExtra).isPresent()) {
            System.err.println(
                    launcher.get().name() + " started several processes on this host, and the first one works"
                            + " for all: this one (" + launcher.get().variable() + "="
                            + launcher.get().localRank() + ") has nothing to do");
            return CaravanCommand.DONE;
        }
        OptionalInt cap = Participation.cap(requireAllNodes, nodes, asked.numShards());
        Checks.job(job.job(), loaded);
        Layout.Generation generation = agree(asked);
        GenerationFiles results = new GenerationFiles(generation);
        failure(results)
                .ifPresent(old -> System.err.println("caravan: this run failed at " + old.endedAt()
                        + " already; if the cause is removed, start it again with a --run-id of its own"));
        boolean toldToLeave = new Node(
                        loaded,
                        NodePlan.forRun(job.job(), generation, cap).within(leave.limit(loaded)),
                        PythonLink.of(loaded, false))
                .run();
        Optional<RoleResult> failure = failure(results);
        if (failure.isPresent() && Disk.exists(job.job().manifest())) {
            throw new CaravanException(failure.get().error()); // the job that is there may be fine
        }
        JobStatus ended = new StatusReader(job.job(), loaded.duration("claim.lease")).read();
        if (!ended.state().ended() && toldToLeave) {
            System.err.println("left before the end, the job goes on elsewhere or later: "
                    + ended.shards().done() + " of " + ended.shards().total() + " shards are done");
            return CaravanCommand.NOT_FINISHED;
        }
        if (!ended.state().ended()) {
            throw new CaravanException("the job has not ended (" + ended.state() + "): this node waited "
                    + loaded.duration("run.wait") + " for others in vain; do all nodes see the same "
                    + job.job().path() + "?");
        }
        if (ended.state() == JobStatus.State.DONE && nodes != null && requireAllNodes) {
            Participation.require(nodes, new JobFiles(job.job()).merged().orElseThrow());
        }
        return Results.report(ended, new JobFiles(job.job()), json);
    }

    private static Optional<RoleResult> failure(GenerationFiles results) {
        return results.prepareResult().filter(result -> !result.ok());
    }

    /** All nodes of a run must ask for the same. */
    private Layout.Generation agree(JobDescriptor asked) throws IOException {
        String id = RunId.of(runId, System.getenv());
        String hash = Sha256.hex(id.getBytes(StandardCharsets.UTF_8)).substring(0, 16);
        Layout.Generation generation = job.job().generation("run-" + hash);
        if (!new GenerationFiles(generation).agreeOn(CanonicalDescriptor.bytes(asked))) {
            throw new CaravanException("run '" + id + "' of " + job.job().path()
                    + " was asked for something else before (" + generation.descriptor()
                    + "): give all nodes the same options, and a new run a --run-id of its own");
        }
        return generation;
    }
}
