package dev.caravan.cli;

import dev.caravan.CaravanException;
import dev.caravan.job.JobDescriptor;
import dev.caravan.shard.Engine;
import dev.caravan.shard.Execution;
import dev.caravan.shard.OutputForm;
import dev.caravan.shard.Policy;
import dev.caravan.store.Layout;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** A job on the command line: a descriptor, or the options of Data-Juicer's elastic sharding in place of one. */
final class JobOptions {
    @Parameters(
            arity = "0..1",
            paramLabel = "JOB.yaml",
            description = "A job descriptor, in place of --config and the options below it.")
    @Nullable
    Path descriptor;

    @Option(
            names = "--job-dir",
            required = true,
            paramLabel = "DIR",
            description = "The job directory, shared by all nodes.")
    Path jobDir;

    @Option(names = "--config", paramLabel = "RECIPE", description = "The Data-Juicer recipe.")
    @Nullable
    Path config;

    @Option(
            names = "--dataset-path",
            paramLabel = "DATA",
            description = "A .jsonl file or a folder of them. Default: the recipe's dataset_path.")
    @Nullable
    Path datasetPath;

    @Option(names = "--num-shards", paramLabel = "N", description = "How many shards; each gets a row at least.")
    @Nullable
    Integer numShards;

    @Option(
            names = "--output",
            paramLabel = "FILE",
            description = "The merged file. Default: merged.jsonl in the job directory.")
    @Nullable
    Path output;

    @Option(
            names = "--ray-address",
            paramLabel = "ADDRESS",
            description = "warm (a Ray that stays), local (one for each attempt) or auto. Default: warm.")
    @Nullable
    String rayAddress;

    @Option(
            names = "--max-retries",
            paramLabel = "N",
            description = "Retries after the first failure of class data. Default: 3.")
    @Nullable
    Integer maxRetries;

    @Option(
            names = "--lock-timeout-secs",
            paramLabel = "N",
            description =
                    "Longest time of one attempt. Dead nodes are noticed by their heartbeat, long before. Default: 126000.")
    @Nullable
    Long lockTimeoutSecs;

    private static final long LOCK_TIMEOUT_SECS = 126_000;

    Layout.Job job() {
        return new Layout.Job(jobDir);
    }

    /** @param shardsByDefault for jobs without a descriptor; null if the option is needed there */
    JobDescriptor descriptor(@Nullable Integer shardsByDefault) {
        if (descriptor != null) {
            refuseBesideDescriptor();
            return Descriptors.read(descriptor);
        }
        if (config == null) {
            throw new CaravanException("what is to be run? Give a job descriptor or --config RECIPE");
        }
        Integer shards = numShards == null ? shardsByDefault : numShards;
        if (shards == null) {
            throw new CaravanException("--num-shards is missing: how many shards is the input to be cut into?");
        }
        Policy standard = Policy.DEFAULT;
        String address = rayAddress == null ? Execution.Ray.DEFAULT.address() : checkedRayAddress(rayAddress);
        return new JobDescriptor(
                job().name(),
                0,
                new Execution(Engine.DATA_JUICER, List.of(), new Execution.Ray(address, null, null, null)),
                absolute(config),
                absolute(datasetPath),
                absolute(output),
                OutputForm.FILE,
                shards,
                null,
                standard.with(
                        maxRetries == null ? standard.maxRetries() : maxRetries,
                        Duration.ofSeconds(lockTimeoutSecs == null ? LOCK_TIMEOUT_SECS : lockTimeoutSecs)));
    }

    static String checkedRayAddress(String address) {
        if (!Execution.Ray.ADDRESSES.contains(address)) {
            throw new CaravanException("--ray-address must be local, warm or auto, not '" + address
                    + "': nodes do not share a Ray cluster");
        }
        return address;
    }

    private void refuseBesideDescriptor() {
        if (config != null
                || datasetPath != null
                || numShards != null
                || output != null
                || rayAddress != null
                || maxRetries != null
                || lockTimeoutSecs != null) {
            throw new CaravanException(
                    "the job descriptor " + descriptor + " says all about the job: leave out --config,"
                            + " --dataset-path, --num-shards, --output, --ray-address, --max-retries and --lock-timeout-secs");
        }
    }

    private static @Nullable String absolute(@Nullable Path path) {
        return path == null ? null : path.toAbsolutePath().normalize().toString();
    }
}
