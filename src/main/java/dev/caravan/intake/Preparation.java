package dev.caravan.intake;

import dev.caravan.job.DescriptorReader;
import dev.caravan.job.JobDescriptor;
import dev.caravan.jsonl.Sha256;
import dev.caravan.lease.ClaimedRole;
import dev.caravan.shard.Checkpoint;
import dev.caravan.shard.Execution;
import dev.caravan.shard.Forecast;
import dev.caravan.shard.GpuDemand;
import dev.caravan.store.Disk;
import dev.caravan.store.GenerationFiles;
import dev.caravan.store.JobFiles;
import dev.caravan.store.Layout;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Clock;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.ToIntFunction;
import org.apache.camel.Body;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** From what a user asks for to a prepared job directory: the recipe is checked, then the input is cut. */
public final class Preparation {
    private static final Logger LOG = LoggerFactory.getLogger(Preparation.class);

    private final Function<Path, CheckedRecipe> recipes;
    private final Scripts scripts;
    private final BooleanSupplier draining;
    private final long minuteBytes;
    private final ToIntFunction<Layout.Job> slots;
    private final Path scratch;

    /**
     * @param recipes checks a recipe, or throws with all its problems
     * @param minuteBytes what a slot is thought to do in a minute, as the setting intake.shard_bytes says
     * @param slots how many are known that may work on a job
     * @param scratch folder on a disk of this node
     */
    public Preparation(
            Function<Path, CheckedRecipe> recipes,
            Scripts scripts,
            BooleanSupplier draining,
            long minuteBytes,
            ToIntFunction<Layout.Job> slots,
            Path scratch) {
        this.recipes = recipes;
        this.scripts = scripts;
        this.draining = draining;
        this.minuteBytes = minuteBytes;
        this.slots = slots;
        this.scratch = scratch;
    }

    /** The step of the prepare route. */
    public void prepare(@Body ClaimedRole role) throws IOException {
        Path file = role.generation().descriptor();
        byte[] content = new GenerationFiles(role.generation())
                .descriptor()
                .orElseThrow(() -> new IntakeException("the job has no descriptor: " + file + " is missing"));
        JobDescriptor descriptor =
                DescriptorReader.read(content, file.toString(), role.job().path());
        BooleanSupplier mayGoOn = () -> !draining.getAsBoolean() && role.lease().isHeld();
        prepare(descriptor, role.job(), mayGoOn, Progress.NONE);
        removeStages(role.job());
    }

    /** Once the job has its name, a stage beside it is what a preparer left that died, or that will fail anyway. */
    private static void removeStages(Layout.Job job) {
        Path parent = job.path().getParent();
        try {
            for (String name : Disk.list(parent)) {
                if (job.isStage(name)) {
                    LOG.info("job {}: removing {}, left by a preparer that did not finish", job.name(), name);
                    Disk.deleteTree(parent.resolve(name));
                }
            }
        } catch (IOException e) {
            LOG.warn("job {}: could not remove what a preparer left in {}: {}", job.name(), parent, e.toString());
        }
    }

    /** @param mayGoOn asked again and again; once false, prepare stops and leaves nothing behind */
    public Prepared prepare(JobDescriptor asked, Layout.Job job, BooleanSupplier mayGoOn, Progress progress) {
        CheckedRecipe recipe = recipe(asked);
        Execution execution = asked.execution().script() == null
                ? execution(asked.execution(), recipe)
                : ScriptInput.checked(scripts, asked.execution());
        Checkpoint checkpoint = execution.checkpoint();
        Prepared prepared = new Prepare(Clock.systemUTC(), mayGoOn, progress)
                .run(new PrepareRequest(
                        job,
                        asked.name(),
                        asked.execution().engine().isScripted() ? job.plan() : Path.of(dataset(asked, recipe)),
                        asked.numShards(),
                        new AutoShards(minuteBytes, slots.applyAsInt(job), execution, measured(job, recipe, execution)),
                        asked.shardForm(),
                        execution,
                        asked.policy().speculate() == null
                                ? asked.policy().speculating(mayRunTwice(recipe))
                                : asked.policy(),
                        asked.output() == null ? job.outputByDefault(asked.outputForm()) : Path.of(asked.output()),
                        asked.outputForm(),
                        recipe == null ? null : recipe.facts(),
                        execution.script() == null ? null : new ScriptInput(scripts, execution),
                        checkpoint == null ? null : new UniqueIds(checkpoint.idColumn(), scratch)));
        prepared.manifest().warnings().forEach(warning -> LOG.warn("job {}: {}", asked.name(), warning));
        LOG.info(
                "job {}: {}, {} rows in {} shards, {} bad records quarantined",
                asked.name(),
                prepared instanceof Prepared.Made ? "prepared" : "is already prepared and unchanged",
                prepared.manifest().totalRows(),
                prepared.manifest().numShards(),
                prepared.manifest().quarantined());
        return prepared;
    }

    /** What a program does besides its result is not known; of a recipe it is. */
    private static boolean mayRunTwice(@Nullable CheckedRecipe recipe) {
        return recipe != null && !recipe.hasSideEffects();
    }

    /** A plan of the same work that was kept beside the job. */
    private static @Nullable Forecast measured(Layout.Job job, @Nullable CheckedRecipe recipe, Execution execution) {
        String sha256 = recipe == null ? null : Sha256.hex(recipe.facts().content());
        return new JobFiles(job)
                .forecast()
                .filter(forecast -> forecast.work().equals(new Forecast.Work(sha256, execution)))
                .orElse(null);
    }

    private @Nullable CheckedRecipe recipe(JobDescriptor asked) {
        String path = asked.recipe();
        return path == null ? null : recipes.apply(Path.of(path));
    }

    /** The input of a job: the recipe's, where the descriptor names none. */
    public Path dataset(JobDescriptor asked) {
        return Path.of(dataset(asked, asked.datasetPath() == null ? recipe(asked) : null));
    }

    private static String dataset(JobDescriptor asked, @Nullable CheckedRecipe recipe) {
        if (asked.datasetPath() != null) {
            return asked.datasetPath();
        }
        if (asked.execution().engine().isScripted()) {
            throw new IntakeException("job " + asked.name() + " has no input before its script is asked for it: engine "
                    + asked.execution().engine() + " has no plan of samples");
        }
        if (recipe == null || recipe.datasetPath() == null) {
            throw new IntakeException("job " + asked.name() + " has no input: set dataset_path in the job descriptor"
                    + " (or --dataset-path), or in the recipe");
        }
        return recipe.datasetPath();
    }

    /** A recipe that needs GPUs asks for them also where the job does not say how many. */
    private static Execution execution(Execution asked, @Nullable CheckedRecipe recipe) {
        Execution.Ray ray = asked.ray();
        if (recipe == null || recipe.numGpus() == 0 || ray.numGpus() != null) {
            return asked;
        }
        return asked.with(new Execution.Ray(
                ray.address(), ray.numCpus(), new GpuDemand(recipe.numGpus()), ray.objectStoreMemory()));
    }
}
