package dev.caravan.shard;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How each shard of a job is run.
 *
 * @param engine which engine runs a shard
 * @param command program and arguments of engine {@code command}, empty otherwise
 * @param ray options of the node-local Ray
 * @param script of an engine that runs one, null otherwise
 * @param planExecute options of engine {@code plan-execute}, null otherwise
 * @param miniBatch options of engine {@code mini-batch}, null otherwise
 * @param checkpoint null if an attempt that fails leaves nothing
 */
public record Execution(
        Engine engine,
        List<String> command,
        Ray ray,
        @Nullable Script script,
        @Nullable PlanExecute planExecute,
        @Nullable MiniBatch miniBatch,
        @Nullable Checkpoint checkpoint) {

    public Execution {
        command = List.copyOf(command);
    }

    public Execution(Engine engine, List<String> command, Ray ray) {
        this(engine, command, ray, null, null, null, null);
    }

    public Execution with(Ray otherRay) {
        return new Execution(engine, command, otherRay, script, planExecute, miniBatch, checkpoint);
    }

    public Execution with(Script otherScript) {
        return new Execution(engine, command, ray, otherScript, planExecute, miniBatch, checkpoint);
    }

    public Execution withoutCheckpoint() {
        return new Execution(engine, command, ray, script, planExecute, miniBatch, null);
    }

    /** Whether each shard pays for the start of Ray and of the operators. */
    public boolean startsForEachShard() {
        return engine == Engine.DATA_JUICER && !ray.address().equals(Ray.WARM);
    }

    /**
     * @param address {@code warm} keeps a Ray and its operators from attempt to attempt, {@code local} starts a Ray for
     *     each attempt, {@code auto} joins the one that runs on the node
     * @param numCpus CPUs that Ray may use for a shard; null means all of the node's, divided by its slots
     * @param numGpus GPUs for a shard; null means none unless the recipe asks for them
     * @param objectStoreMemory bytes; null leaves the choice to Ray
     */
    public record Ray(
            String address,
            @Nullable Double numCpus,
            @Nullable GpuDemand numGpus,
            @Nullable Long objectStoreMemory) {

        public static final String LOCAL = "local";
        public static final String WARM = "warm";
        public static final String AUTO = "auto";
        public static final List<String> ADDRESSES = List.of(WARM, LOCAL, AUTO);

        public static final Ray DEFAULT = new Ray(WARM, null, null, null);

        public GpuDemand gpuDemand() {
            return numGpus == null ? GpuDemand.NONE : numGpus;
        }
    }
}
