package dev.caravan.exec;

import com.fasterxml.jackson.databind.JsonNode;
import dev.caravan.lease.ClaimedShard;
import dev.caravan.shard.Execution;
import dev.caravan.shard.FailureClass;
import dev.caravan.shard.Spent;
import dev.caravan.store.Disk;
import dev.caravan.store.Json;
import dev.caravan.store.Layout;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** What the engines of the Python side have in common: how their child is started, and what its outcome says. */
final class PythonChild {
    /** Ray settings of the surroundings must not reach a shard's own Ray; uncompiled Python starts four times slower. */
    private static final List<String> CLEARED = List.of("RAY_*", "PYTHONDONTWRITEBYTECODE", "PYTHONHOME");

    /** Who asks for the Ray of the node means the one that the surroundings name. */
    private static final List<String> CLEARED_FOR_AUTO = List.of("PYTHONDONTWRITEBYTECODE", "PYTHONHOME");

    private final Supplier<PythonSide> python;
    private final Map<String, String> surroundings;
    private final int slots;

    /**
     * @param python asked for when the first shard starts, so that nodes without such jobs need no Python
     * @param slots shards at once, which share the CPUs
     */
    PythonChild(Supplier<PythonSide> python, Map<String, String> surroundings, int slots) {
        this.python = python;
        this.surroundings = Map.copyOf(surroundings);
        this.slots = slots;
    }

    record RayRequest(
            String address,
            double numCpus,
            int numGpus,
            @Nullable Long objectStoreMemory) {}

    /**
     * What a warm runner settles when it starts.
     *
     * @param work what the engine settles of the job: it serves no shard of which that is not equal
     */
    private record Identity(List<String> command, Map<String, String> environment, RayRequest ray, Object work) {}

    /** Of the Ray that this attempt gets: what spoiled an attempt may be the warm runner, so the next does without. */
    static String address(ClaimedShard shard) {
        String asked = shard.manifest().execution().ray().address();
        Spent spent = shard.lease().claim().spent();
        boolean failedButNotOnData = spent.infra() + spent.stalled() + spent.timeout() > 0;
        return asked.equals(Execution.Ray.WARM) && failedButNotOnData ? Execution.Ray.LOCAL : asked;
    }

    RayRequest ray(ClaimedShard shard, Gpus.Grant gpus) {
        Execution.Ray ray = shard.manifest().execution().ray();
        double cpus = ray.numCpus() != null
                ? ray.numCpus()
                : Math.max(1, Runtime.getRuntime().availableProcessors() / slots);
        return new RayRequest(address(shard), cpus, gpus.count(), ray.objectStoreMemory());
    }

    /**
     * @param request what {@code python -m caravan_runner shard} reads, and a warm runner gets
     * @param work see {@link Identity}
     */
    EngineDriver.Start start(Trial trial, Gpus.Grant gpus, RayRequest ray, Object request, Object work)
            throws IOException {
        Layout.Job job = trial.shard().job().layout();
        Path file = trial.directory().request();
        Disk.writeForChild(file, Json.bytes(request));
        PythonSide found = python.get();
        Map<String, String> environment = new HashMap<>();
        environment.put("PYTHONPATH", withRunner(found.runner().toString()));
        environment.put("CUDA_VISIBLE_DEVICES", gpus.visibleDevices());
        environment.putAll(Caches.of(job, surroundings));
        if (ray.address().equals(Execution.Ray.WARM)) {
            List<String> command = runner(found, "serve");
            Identity identity = new Identity(command, new TreeMap<>(environment), ray, work);
            return new EngineDriver.Start(
                    command, environment, CLEARED, new Child.Warm(Json.line(identity), Json.bytes(request)));
        }
        return new EngineDriver.Start(
                runner(found, "shard", file.toString()),
                environment,
                ray.address().equals(Execution.Ray.AUTO) ? CLEARED_FOR_AUTO : CLEARED,
                null);
    }

    private static List<String> runner(PythonSide python, String... arguments) {
        return Stream.concat(
                        Stream.of(python.executable().toString(), "-u", "-m", "caravan_runner"), Stream.of(arguments))
                .toList();
    }

    private String withRunner(String runner) {
        String path = surroundings.get("PYTHONPATH");
        return path == null || path.isEmpty() ? runner : runner + ":" + path;
    }

    static Optional<JsonNode> outcome(Layout.Attempt attempt) {
        try {
            Optional<byte[]> content = Disk.readIfPresent(attempt.outcome());
            return content.isEmpty() ? Optional.empty() : Optional.of(Json.tree(content.get()));
        } catch (IOException unreadable) {
            return Optional.empty();
        }
    }

    /** @param engine as people call it */
    static AttemptFailed explain(Trial trial, int exitCode, String engine) {
        Optional<JsonNode> outcome = outcome(trial.directory());
        if (outcome.isEmpty()) {
            return new AttemptFailed(FailureClass.DATA, engine + " returned exit code " + exitCode);
        }
        JsonNode said = outcome.get();
        FailureClass failure =
                said.path("failure_class").asText().equals("infra") ? FailureClass.INFRA : FailureClass.DATA;
        StringBuilder why = new StringBuilder(engine + " returned exit code " + exitCode + ": ");
        if (said.hasNonNull("operator")) {
            why.append("operator ").append(said.get("operator").asText()).append(": ");
        }
        why.append(said.path("error").asText("no error was recorded"));
        if (said.hasNonNull("advice")) {
            why.append("; ").append(said.get("advice").asText());
        }
        if (said.path("too_many_failed").asBoolean()) {
            return FailedRows.tooMany(trial.shard().manifest());
        }
        return failure == FailureClass.DATA
                        && said.hasNonNull("operator")
                        && !said.path("isolated").asBoolean()
                ? AttemptFailed.onSomeRecord(why.toString(), suspicion(said))
                : new AttemptFailed(failure, why.toString());
    }

    private static AttemptFailed.Suspicion suspicion(JsonNode said) {
        return new AttemptFailed.Suspicion(
                said.path("operator").textValue(),
                said.path("error_class").textValue(),
                said.path("stack_sha256").textValue());
    }
}
