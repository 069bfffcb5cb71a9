package dev.caravan.exec;

import dev.caravan.lease.ClaimedShard;
import dev.caravan.shard.Checkpoint;
import dev.caravan.shard.Engine;
import dev.caravan.shard.Manifest;
import dev.caravan.shard.OperatorRows;
import dev.caravan.store.CheckpointFolder;
import dev.caravan.store.Layout;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Engine {@code data-juicer}: the Python runner runs one shard through Data-Juicer on this node's Ray. */
final class DataJuicerDriver implements EngineDriver {
    private final PythonChild python;
    private final Duration commitEvery;

    /** @param commitEvery how much work a job with a checkpoint may lose */
    DataJuicerDriver(PythonChild python, Duration commitEvery) {
        this.python = python;
        this.commitEvery = commitEvery;
    }

    /**
     * @param produced folder for the files that operators make
     * @param maxFailed records that may be set aside; null if none is to be looked for
     */
    record Request(
            Engine engine,
            String recipe,
            String recipeDir,
            String input,
            String attemptDir,
            String produced,
            @Nullable Long maxFailed,
            @Nullable CheckpointRequest checkpoint,
            PythonChild.RayRequest ray) {}

    /**
     * @param folder of the shard
     * @param attempt a name that no other attempt has
     * @param ranges of the input that make the shard: it is the child that writes them to its input file
     * @param sha256 of the shard
     */
    record CheckpointRequest(
            String folder,
            String attempt,
            double seconds,
            Map<String, Object> identity,
            List<Manifest.Range> ranges,
            String sha256) {}

    /** What a warm runner holds the operators of. */
    private record Work(Engine engine, String recipe, String sha256) {}

    @Override
    public Start start(Trial trial, Gpus.Grant gpus) throws IOException {
        ClaimedShard shard = trial.shard();
        Layout.Attempt directory = trial.directory();
        Request request = new Request(
                Engine.DATA_JUICER,
                shard.job().layout().recipe().toString(),
                recipeFolder(shard),
                trial.input().toString(),
                directory.path().toString(),
                directory.produced().toString(),
                shard.manifest().policy().poison().isolate() ? FailedRows.allowance(shard) : null,
                checkpoint(shard),
                python.ray(shard, gpus));
        Work work = new Work(request.engine(), request.recipe(), recipe(shard).sha256());
        return python.start(trial, gpus, request.ray(), request, work);
    }

    private @Nullable CheckpointRequest checkpoint(ClaimedShard shard) {
        Manifest manifest = shard.manifest();
        Checkpoint asked = manifest.execution().checkpoint();
        if (asked == null) {
            return null;
        }
        Manifest.Shard planned = shard.shard();
        Path folder = asked.path() == null
                ? shard.job().layout().checkpoints(planned.id())
                : new CheckpointFolder(Path.of(asked.path())).shard(planned.id(), planned.sha256());
        return new CheckpointRequest(
                folder.toString(),
                shard.attempt().path().getFileName().toString(),
                commitEvery.toMillis() / 1e3,
                asked.identity(manifest.policy()),
                planned.ranges(),
                planned.sha256());
    }

    private static Manifest.Recipe recipe(ClaimedShard shard) {
        return Objects.requireNonNull(shard.manifest().recipe(), "a job of Data-Juicer has a recipe");
    }

    /** Relative paths of custom operators start where the recipe came from, not at its snapshot. */
    private static String recipeFolder(ClaimedShard shard) {
        return Objects.requireNonNull(Path.of(recipe(shard).sourcePath()).getParent(), "recipe paths are absolute")
                .toString();
    }

    @Override
    public Path result(Trial trial) {
        return trial.directory().rayOutput();
    }

    @Override
    public List<OperatorRows> operators(Trial trial) {
        List<OperatorRows> operators = new ArrayList<>();
        PythonChild.outcome(trial.directory())
                .ifPresent(said -> said.path("operators")
                        .forEach(operator -> operators.add(new OperatorRows(
                                operator.path("name").asText(),
                                operator.path("rows_in").asLong(),
                                operator.path("rows_out").asLong()))));
        return operators;
    }

    @Override
    public AttemptFailed explain(Trial trial, int exitCode) {
        return PythonChild.explain(trial, exitCode, "Data-Juicer");
    }
}
