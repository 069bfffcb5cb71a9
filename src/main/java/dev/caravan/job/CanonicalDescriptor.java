package dev.caravan.job;

import dev.caravan.settings.Durations;
import dev.caravan.shard.Checkpoint;
import dev.caravan.shard.Engine;
import dev.caravan.shard.Execution;
import dev.caravan.shard.Execution.Ray;
import dev.caravan.shard.OutputForm;
import dev.caravan.shard.PlanExecute;
import dev.caravan.shard.Policy;
import dev.caravan.shard.Script;
import dev.caravan.store.Json;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The one way to write a descriptor: equal bytes ask for the same, and {@link DescriptorReader} reads them back. */
public final class CanonicalDescriptor {
    private CanonicalDescriptor() {}

    public static byte[] bytes(JobDescriptor job) {
        Map<String, @Nullable Object> fields = new LinkedHashMap<>();
        fields.put("name", job.name());
        fields.put("priority", job.priority());
        fields.put("engine", job.execution().engine());
        fields.put("recipe", job.recipe());
        fields.put(
                "command",
                job.execution().engine() == Engine.COMMAND ? job.execution().command() : null);
        script(job.execution(), fields);
        fields.put("dataset_path", job.datasetPath());
        fields.put("output", output(job));
        fields.put("num_shards", job.numShards() == null ? DescriptorReader.AUTO : job.numShards());
        fields.put("shards", job.shardForm());
        fields.put("ray", ray(job.execution().ray()));
        fields.put("checkpoint", checkpoint(job.execution().checkpoint()));
        Map<String, @Nullable Object> policy = policy(job.policy());
        if (job.execution().miniBatch() != null) {
            policy.keySet().removeAll(PoisonFields.ALL); // it has limits of its own
        }
        fields.put("policy", policy);
        return Json.bytes(fields);
    }

    private static @Nullable Object output(JobDescriptor job) {
        if (job.outputForm() == OutputForm.FILE) {
            return job.output();
        }
        Map<String, @Nullable Object> fields = new LinkedHashMap<>();
        fields.put("path", job.output());
        fields.put("form", job.outputForm());
        return fields;
    }

    private static void script(Execution execution, Map<String, @Nullable Object> fields) {
        Script script = execution.script();
        if (script != null) {
            fields.put("script", script.path());
            fields.put("source_directory", script.sourceDirectory());
            fields.put("working_directory", script.workingDirectory());
            fields.put("arguments", script.arguments());
        }
        PlanExecute options = execution.planExecute();
        if (options != null) {
            Map<String, @Nullable Object> section = new LinkedHashMap<>();
            section.put("workers", options.workers());
            section.put("per_worker", options.perWorker());
            section.put("retries", options.retries());
            section.put("generate_ids", options.generateIds());
            section.put("limit", options.limit());
            section.put("sink", options.sink());
            section.put("resume", options.resume() ? true : null);
            section.put("rerun_failed", options.rerunFailed());
            section.put("labels", options.labels());
            fields.put(PlanExecuteFields.SECTION, section);
        }
        if (execution.miniBatch() != null) {
            fields.put(MiniBatchFields.SECTION, MiniBatchFields.section(execution.miniBatch()));
        }
    }

    private static Map<String, @Nullable Object> ray(Ray ray) {
        Map<String, @Nullable Object> fields = new LinkedHashMap<>();
        fields.put("address", ray.address());
        fields.put("num_cpus", ray.numCpus());
        fields.put("num_gpus", ray.numGpus());
        fields.put("object_store_memory", ray.objectStoreMemory());
        return fields;
    }

    private static @Nullable Map<String, @Nullable Object> checkpoint(@Nullable Checkpoint checkpoint) {
        if (checkpoint == null) {
            return null;
        }
        Map<String, @Nullable Object> fields = new LinkedHashMap<>();
        fields.put("id_column", checkpoint.idColumn());
        fields.put("path", checkpoint.path());
        fields.put("delete_on_success", checkpoint.deleteOnSuccess());
        return fields;
    }

    private static Map<String, @Nullable Object> policy(Policy policy) {
        Map<String, @Nullable Object> fields = new LinkedHashMap<>();
        fields.put("max_retries", policy.maxRetries());
        fields.put("max_infra_retries", policy.maxInfraRetries());
        fields.put("max_timeout_retries", policy.maxTimeoutRetries());
        fields.put("max_stalled_retries", policy.maxStalledRetries());
        fields.put("attempt_timeout", Durations.format(policy.attemptTimeout()));
        fields.put("stall_timeout", Durations.format(policy.stallTimeout()));
        fields.put("on_bad_record", policy.badRecords().on());
        fields.put("max_bad_records", policy.badRecords().most());
        fields.put("max_bad_percent", policy.badRecords().mostPercent());
        fields.put("isolate_poison", policy.poison().isolate());
        fields.put("max_failed_records", policy.poison().most());
        fields.put("max_failed_percent", policy.poison().mostPercent());
        fields.put("speculate", policy.speculate());
        return fields;
    }
}
