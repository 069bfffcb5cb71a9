package dev.caravan.exec;

import dev.caravan.lease.ClaimedShard;
import dev.caravan.shard.Execution;
import dev.caravan.shard.OperatorRows;
import dev.caravan.shard.Script;
import dev.caravan.store.Layout;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;

/** Engines that run a Python file of the user's: the Python runner takes one shard through it. */
final class ScriptDriver implements EngineDriver {
    private final PythonChild python;

    ScriptDriver(PythonChild python) {
        this.python = python;
    }

    /**
     * @param script the job's copy
     * @param attempt names this attempt among those at the shard
     * @param checkpoints where attempts at this shard commit what is done
     * @param produced folder for the files that the script makes
     * @param outputDir the same for all shards of the job
     * @param maxFailed items that may fail
     */
    record Request(
            String script,
            String input,
            String attemptDir,
            String attempt,
            String checkpoints,
            String produced,
            String outputDir,
            String jobId,
            long maxFailed,
            Execution execution,
            String engine,
            PythonChild.RayRequest ray) {}

    /** What a warm runner has started workers of. */
    private record Work(String script, Execution execution) {}

    @Override
    public Start start(Trial trial, Gpus.Grant gpus) throws IOException {
        ClaimedShard shard = trial.shard();
        Execution execution = shard.manifest().execution();
        Script script = Objects.requireNonNull(execution.script(), "an engine that runs a script has one");
        Layout.Job job = shard.job().layout();
        Layout.Attempt directory = trial.directory();
        Request request = new Request(
                job.script().resolve(script.name()).toString(),
                trial.input().toString(),
                directory.path().toString(),
                directory.path().getFileName().toString(),
                job.checkpoints(shard.shard().id()).toString(),
                directory.produced().toString(),
                job.scriptOutput().toString(),
                shard.manifest().jobId(),
                FailedRows.allowance(shard),
                execution,
                execution.engine().toString(),
                python.ray(shard, gpus));
        return python.start(trial, gpus, request.ray(), request, new Work(request.script(), execution));
    }

    @Override
    public Path result(Trial trial) {
        return trial.directory().commandOutput();
    }

    @Override
    public List<OperatorRows> operators(Trial trial) {
        return List.of();
    }

    @Override
    public AttemptFailed explain(Trial trial, int exitCode) {
        return PythonChild.explain(
                trial,
                exitCode,
                "engine " + trial.shard().manifest().execution().engine());
    }
}
