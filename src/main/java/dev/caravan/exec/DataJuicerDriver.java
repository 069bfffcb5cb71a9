package dev.caravan.exec;

import com.fasterxml.jackson.databind.JsonNode;
import dev.caravan.lease.ClaimedShard;
import dev.caravan.shard.Execution;
import dev.caravan.shard.FailureClass;
import dev.caravan.shard.Manifest;
import dev.caravan.store.Disk;
import dev.caravan.store.Json;
import dev.caravan.store.Layout;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Engine {@code data-juicer}: the Python runner runs one shard through Data-Juicer on this node's Ray. */
final class DataJuicerDriver implements EngineDriver {
    /** Ray settings of the surroundings must not reach a shard's own Ray; uncompiled Python starts four times slower. */
    private static final List<String> CLEARED = List.of("RAY_*", "PYTHONDONTWRITEBYTECODE", "PYTHONHOME");

    /** Who asks for the Ray of the node means the one that the surroundings name. */
    private static final List<String> CLEARED_FOR_AUTO = List.of("PYTHONDONTWRITEBYTECODE", "PYTHONHOME");

    private final Supplier<PythonSide> python;
    private final Map<String, String> surroundings;
    private final int slots;

    /** @param python asked for when the first shard starts, so that nodes without such jobs need no Python */
    DataJuicerDriver(Supplier<PythonSide> python, Map<String, String> surroundings, int slots) {
        this.python = python;
        this.surroundings = Map.copyOf(surroundings);
        this.slots = slots;
    }

    /** What {@code python -m caravan_runner shard} reads. */
    record Request(String recipe, String recipeDir, String input, String attemptDir, RayRequest ray) {}

    record RayRequest(
            String address,
            double numCpus,
            @Nullable Double numGpus,
            @Nullable Long objectStoreMemory) {}

    @Override
    public Start start(ClaimedShard shard, Gpus.Grant gpus) throws IOException {
        Layout.Job job = shard.job().layout();
        Layout.Attempt attempt = shard.attempt();
        Execution.Ray ray = shard.manifest().execution().ray();
        double cpus = ray.numCpus() != null
                ? ray.numCpus()
                : Math.max(1, Runtime.getRuntime().availableProcessors() / slots);
        Disk.replace(
                attempt.request(),
                Json.bytes(new Request(
                        job.recipe().toString(),
                        recipeFolder(shard),
                        job.resolve(shard.shard().path()).toString(),
                        attempt.path().toString(),
                        new RayRequest(ray.address(), cpus, ray.numGpus(), ray.objectStoreMemory()))));
        PythonSide found = python.get();
        Map<String, String> environment = new HashMap<>();
        environment.put("PYTHONPATH", withRunner(found.runner().toString()));
        environment.put("DJ_PRODUCED_DATA_DIR", attempt.produced().toString());
        environment.put("CUDA_VISIBLE_DEVICES", gpus.visibleDevices());
        defaultTo(environment, "XDG_CACHE_HOME", job.cache());
        defaultTo(environment, "HF_HOME", job.cache().resolve("huggingface"));
        return new Start(
                List.of(
                        found.executable().toString(),
                        "-u",
                        "-m",
                        "caravan_runner",
                        "shard",
                        attempt.request().toString()),
                environment,
                ray.address().equals("auto") ? CLEARED_FOR_AUTO : CLEARED);
    }

    /** Relative paths of custom operators start where the recipe came from, not at its snapshot. */
    private static String recipeFolder(ClaimedShard shard) {
        Manifest.Recipe recipe = Objects.requireNonNull(shard.manifest().recipe(), "a job of Data-Juicer has a recipe");
        return Objects.requireNonNull(Path.of(recipe.sourcePath()).getParent(), "recipe paths are absolute")
                .toString();
    }

    private String withRunner(String runner) {
        String path = surroundings.get("PYTHONPATH");
        return path == null || path.isEmpty() ? runner : runner + ":" + path;
    }

    private void defaultTo(Map<String, String> environment, String name, Path value) {
        if (!surroundings.containsKey(name)) {
            environment.put(name, value.toString());
        }
    }

    @Override
    public Path result(ClaimedShard shard) {
        return shard.attempt().rayOutput();
    }

    @Override
    public AttemptFailed explain(ClaimedShard shard, int exitCode) {
        Optional<JsonNode> outcome = outcome(shard.attempt());
        if (outcome.isEmpty()) {
            return new AttemptFailed(FailureClass.DATA, "Data-Juicer returned exit code " + exitCode);
        }
        JsonNode said = outcome.get();
        FailureClass failure =
                said.path("failure_class").asText().equals("infra") ? FailureClass.INFRA : FailureClass.DATA;
        StringBuilder why = new StringBuilder("Data-Juicer returned exit code " + exitCode + ": ");
        if (said.hasNonNull("operator")) {
            why.append("operator ").append(said.get("operator").asText()).append(": ");
        }
        why.append(said.path("error").asText("no error was recorded"));
        if (said.hasNonNull("advice")) {
            why.append("; ").append(said.get("advice").asText());
        }
        return new AttemptFailed(failure, why.toString());
    }

    private static Optional<JsonNode> outcome(Layout.Attempt attempt) {
        try {
            Optional<byte[]> content = Disk.readIfPresent(attempt.outcome());
            return content.isEmpty() ? Optional.empty() : Optional.of(Json.tree(content.get()));
        } catch (IOException unreadable) {
            return Optional.empty();
        }
    }
}
