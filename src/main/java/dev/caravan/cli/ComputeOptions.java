package dev.caravan.cli;

import dev.caravan.job.DescriptorReader;
import dev.caravan.job.JobDescriptor;
import dev.caravan.shard.Engine;
import dev.caravan.store.Json;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** What is to be computed, on the command line: a job of engine plan-execute without a descriptor. */
final class ComputeOptions {
    @Parameters(index = "0", paramLabel = "TASK.py", description = "A Python file with plan() and execute(item).")
    Path script;

    @Parameters(
            index = "1..*",
            paramLabel = "ARGUMENT",
            description = "Behind --: what the script finds in sys.argv, in plan() and in every worker.")
    List<String> arguments = new ArrayList<>();

    @Option(
            names = {"-w", "--workers"},
            paramLabel = "N",
            description = "Workers on this machine: Python processes that live from item to item."
                    + " Default: $LOCAL_WORLD_SIZE below torchrun, else 4.")
    @Nullable
    Integer workers;

    @Option(
            names = "--per-worker",
            paramLabel = "N",
            defaultValue = "1",
            description = "Items that a worker executes at once, in threads. Default: ${DEFAULT-VALUE}.")
    int perWorker;

    @Option(
            names = "--retries",
            paramLabel = "N",
            defaultValue = "2",
            description =
                    "How often an item is tried again whose worker was lost: first with the same worker, then with"
                            + " another. What execute() raises is not tried again. Default: ${DEFAULT-VALUE}.")
    int retries;

    @Option(names = "--gpus", paramLabel = "N", description = "GPUs that the workers share, or all. Default: none.")
    @Nullable
    String gpus;

    @Option(
            names = "--limit",
            paramLabel = "N",
            defaultValue = "0",
            description = "Plan so many items at most; 0 for all. Default: ${DEFAULT-VALUE}.")
    int limit;

    @Option(
            names = "--generate-ids",
            description = "Give items without an id one, made of their content. Without it they are an error.")
    boolean generateIds;

    @Option(
            names = "--resume",
            description =
                    "Go on with a sink: plan() runs again, and ids that are in ready.ndjson or failures.ndjson are"
                            + " left out.")
    boolean resume;

    @Option(
            names = "--rerun-failed",
            paramLabel = "KIND",
            split = ",",
            description = "With --resume: failures of these kinds are computed again: execute, infra, cancelled.")
    List<String> rerunFailed = new ArrayList<>();

    @Option(names = "--worker-label", paramLabel = "KEY=VALUE", description = "For context().labels; may be repeated.")
    List<String> labels = new ArrayList<>();

    @Option(
            names = "--source-directory",
            paramLabel = "DIR",
            description = "A folder that the script needs and lies in: it is copied whole. Default: the script alone.")
    @Nullable
    Path sourceDirectory;

    /** @param alone whether no other machine takes part: then one shard keeps all workers busy to its end */
    JobDescriptor descriptor(String name, Path sink, int workersByDefault, boolean alone) {
        Map<String, Object> options = new LinkedHashMap<>();
        options.put("workers", workers == null ? workersByDefault : workers);
        options.put("per_worker", perWorker);
        options.put("retries", retries);
        options.put("limit", limit);
        options.put("generate_ids", generateIds);
        options.put("sink", sink.toString());
        options.put("resume", resume);
        options.put("rerun_failed", rerunFailed);
        options.put("labels", labels);
        Path here = Path.of("").toAbsolutePath();
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("name", name);
        fields.put("engine", Engine.PLAN_EXECUTE);
        fields.put("script", script.toString());
        if (sourceDirectory != null) {
            fields.put("source_directory", sourceDirectory.toString());
        }
        fields.put("working_directory", here.toString());
        fields.put("arguments", arguments);
        fields.put("num_shards", alone ? 1 : "auto");
        if (gpus != null) {
            fields.put("ray", Map.of("num_gpus", gpus));
        }
        fields.put("plan_execute", options);
        return DescriptorReader.read(Json.bytes(fields), "that the command line makes", here);
    }
}
