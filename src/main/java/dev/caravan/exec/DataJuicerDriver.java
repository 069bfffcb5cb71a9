package dev.caravan.exec;

import com.fasterxml.jackson.databind.JsonNode;
import dev.caravan.lease.ClaimedShard;
import dev.caravan.shard.Execution;
import dev.caravan.shard.FailureClass;
import dev.caravan.shard.Manifest;
import dev.caravan.shard.Spent;
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
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.stream.Stream;
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

    /**
     * What {@code python -m caravan_runner shard} reads, and a warm runner gets.
     *
     * @param produced folder for the files that operators make
     */
    record Request(String recipe, String recipeDir, String input, String attemptDir, String produced, RayRequest ray) {}

    record RayRequest(
            String address,
            double numCpus,
            int numGpus,
            @Nullable Long objectStoreMemory) {}

    /** What a warm runner settles when it starts. */
    record Identity(
            List<String> command, Map<String, String> environment, String recipe, String sha256, RayRequest ray) {}

    /** Of the Ray that this attempt gets: what spoiled an attempt may be the warm runner, so the next does without. */
    static String address(ClaimedShard shard) {
        String asked = shard.manifest().execution().ray().address();
        Spent spent = shard.lease().claim().spent();
        boolean failedButNotOnData = spent.infra() + spent.stalled() + spent.timeout() > 0;
        return asked.equals(Execution.Ray.WARM) && failedButNotOnData ? Execution.Ray.LOCAL : asked;
    }

    @Override
    public Start start(ClaimedShard shard, Path input, Gpus.Grant gpus) throws IOException {
        Layout.Job job = shard.job().layout();
        Layout.Attempt attempt = shard.attempt();
        Request request = new Request(
                job.recipe().toString(),
                recipeFolder(shard),
                input.toString(),
                attempt.path().toString(),
                attempt.produced().toString(),
                ray(shard, gpus));
        Disk.replace(attempt.request(), Json.bytes(request));
        PythonSide found = python.get();
        Map<String, String> environment = new HashMap<>();
        environment.put("PYTHONPATH", withRunner(found.runner().toString()));
        environment.put("CUDA_VISIBLE_DEVICES", gpus.visibleDevices());
        defaultTo(environment, "XDG_CACHE_HOME", job.cache());
        defaultTo(environment, "HF_HOME", job.cache().resolve("huggingface"));
        if (request.ray().address().equals(Execution.Ray.WARM)) {
            List<String> command = runner(found, "serve");
            Identity identity = new Identity(
                    command,
                    new TreeMap<>(environment),
                    request.recipe(),
                    recipe(shard).sha256(),
                    request.ray());
            return new Start(command, environment, CLEARED, new Child.Warm(Json.line(identity), Json.bytes(request)));
        }
        environment.put("DJ_PRODUCED_DATA_DIR", attempt.produced().toString());
        return new Start(
                runner(found, "shard", attempt.request().toString()),
                environment,
                request.ray().address().equals(Execution.Ray.AUTO) ? CLEARED_FOR_AUTO : CLEARED,
                null);
    }

    private RayRequest ray(ClaimedShard shard, Gpus.Grant gpus) {
        Execution.Ray ray = shard.manifest().execution().ray();
        double cpus = ray.numCpus() != null
                ? ray.numCpus()
                : Math.max(1, Runtime.getRuntime().availableProcessors() / slots);
        return new RayRequest(address(shard), cpus, gpus.count(), ray.objectStoreMemory());
    }

    private static List<String> runner(PythonSide python, String... arguments) {
        return Stream.concat(
                        Stream.of(python.executable().toString(), "-u", "-m", "caravan_runner"), Stream.of(arguments))
                .toList();
    }

    private static Manifest.Recipe recipe(ClaimedShard shard) {
        return Objects.requireNonNull(shard.manifest().recipe(), "a job of Data-Juicer has a recipe");
    }

    /** Relative paths of custom operators start where the recipe came from, not at its snapshot. */
    private static String recipeFolder(ClaimedShard shard) {
        return Objects.requireNonNull(Path.of(recipe(shard).sourcePath()).getParent(), "recipe paths are absolute")
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
