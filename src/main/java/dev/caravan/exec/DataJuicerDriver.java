package dev.caravan.exec;

import dev.caravan.lease.ClaimedShard;
import dev.caravan.shard.Engine;
import dev.caravan.shard.Manifest;
import dev.caravan.shard.OperatorRows;
import dev.caravan.store.Layout;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Engine {@code data-juicer}: the Python runner runs one shard through Data-Juicer on this node's Ray. */
final class DataJuicerDriver implements EngineDriver {
    private final PythonChild python;

    DataJuicerDriver(PythonChild python) {
        this.python = python;
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
            PythonChild.RayRequest ray) {}

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
                python.ray(shard, gpus));
        Work work = new Work(request.engine(), request.recipe(), recipe(shard).sha256());
        return python.start(trial, gpus, request.ray(), request, work);
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
