package dev.caravan.exec;

import com.fasterxml.jackson.databind.JsonNode;
import dev.caravan.lease.ClaimedShard;
import dev.caravan.shard.DoneRecord;
import dev.caravan.shard.Manifest;
import dev.caravan.shard.MiniBatch;
import dev.caravan.shard.OperatorRows;
import dev.caravan.shard.Script;
import dev.caravan.shard.ShardId;
import dev.caravan.store.JobFiles;
import dev.caravan.store.Layout;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/** Engine {@code mini-batch}: each record of a shard is a mini-batch, and the result of it a record. */
final class MiniBatchDriver implements EngineDriver {
    private final PythonChild python;

    MiniBatchDriver(PythonChild python) {
        this.python = python;
    }

    /**
     * @param script the job's copy
     * @param commits where attempts at this shard commit what is done
     * @param logs of the job
     * @param outputDir the same for all shards of the job
     * @param allowed failures of the job that may come yet
     */
    record Request(
            String engine,
            String script,
            Script source,
            String input,
            String attemptDir,
            String output,
            String commits,
            String logs,
            String node,
            String outputDir,
            MiniBatch.Allowed allowed,
            MiniBatch miniBatch,
            PythonChild.RayRequest ray) {}

    /** What a warm runner has started processes of. */
    private record Work(String script, Script source, MiniBatch options, String node) {}

    @Override
    public Start start(Trial trial, Gpus.Grant gpus) throws IOException {
        ClaimedShard shard = trial.shard();
        Script script = Objects.requireNonNull(shard.manifest().execution().script(), "a job of mini-batches has one");
        Layout.Job job = shard.job().layout();
        Request request = new Request(
                shard.manifest().execution().engine().toString(),
                job.script().resolve(script.name()).toString(),
                script,
                trial.input().toString(),
                trial.directory().path().toString(),
                result(trial).toString(),
                job.checkpoints(shard.shard().id()).toString(),
                job.logs().toString(),
                shard.lease().claim().node(),
                job.scriptOutput().toString(),
                options(shard.manifest()).allowed(shard.manifest().totalRows(), failed(shard.job())),
                options(shard.manifest()),
                python.ray(shard, gpus));
        Work work = new Work(request.script(), request.source(), request.miniBatch(), request.node());
        return python.start(trial, gpus, request.ray(), request, work);
    }

    private static MiniBatch options(Manifest manifest) {
        return Objects.requireNonNull(manifest.execution().miniBatch(), "a job of mini-batches has options");
    }

    /** Over all that nodes have published so far. */
    private static MiniBatch.Failed failed(JobFiles job) throws IOException {
        List<DoneRecord> done = new ArrayList<>();
        for (ShardId shard : job.doneShards()) {
            job.done(shard).ifPresent(done::add);
        }
        return MiniBatch.Failed.of(done);
    }

    @Override
    public Path result(Trial trial) {
        return trial.directory().commandOutput();
    }

    @Override
    public List<OperatorRows> operators(Trial trial) {
        JsonNode said = PythonChild.outcome(trial.directory())
                .orElseThrow(() -> new IllegalStateException("no outcome of a success"))
                .path("mini_batches");
        return MiniBatch.Failed.lines(
                said.path("items").asLong(),
                said.path("failed_items").asLong(),
                said.path("done").asLong(),
                said.path("failed").asLong());
    }

    /** Items are no records. */
    @Override
    public boolean operatorsTellOfRows() {
        return false;
    }

    @Override
    public AttemptFailed explain(Trial trial, int exitCode) {
        boolean tooMany = PythonChild.outcome(trial.directory())
                .map(said -> said.path("too_many_failed").asBoolean())
                .orElse(false);
        AttemptFailed failure = PythonChild.explain(trial, exitCode, "engine mini-batch");
        return tooMany
                ? AttemptFailed.forGood("more failed than the job allows ("
                        + options(trial.shard().manifest()).limits()
                        + "); logs/user/error of the job tells why: correct the script or the input, or allow more in a"
                        + " new job")
                : failure;
    }
}
