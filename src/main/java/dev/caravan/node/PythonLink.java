package dev.caravan.node;

import dev.caravan.CaravanException;
import dev.caravan.exec.PythonSide;
import dev.caravan.intake.CheckedRecipe;
import dev.caravan.intake.RecipeFacts;
import dev.caravan.intake.Scripts;
import dev.caravan.python.PythonEnvironment;
import dev.caravan.python.PythonInfo;
import dev.caravan.python.RecipeCheck;
import dev.caravan.python.RecipeChecker;
import dev.caravan.settings.Settings;
import dev.caravan.shard.Execution;
import dev.caravan.store.Disk;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The Python environment as the rest of the node uses it; set up when it is first needed. Thread-safe. */
public final class PythonLink implements Scripts {
    private static final Logger LOG = LoggerFactory.getLogger(PythonLink.class);

    private final PythonEnvironment environment;
    private final boolean allowMismatch;
    private @Nullable PythonInfo info;

    /** @param allowMismatch whether a job that was prepared with other code may be worked on */
    public PythonLink(PythonEnvironment environment, boolean allowMismatch) {
        this.environment = environment;
        this.allowMismatch = allowMismatch;
    }

    public static PythonLink of(Settings settings, boolean allowMismatch) {
        return new PythonLink(PythonEnvironment.of(settings.text("python.executable")), allowMismatch);
    }

    private synchronized PythonInfo info() {
        if (info == null) {
            info = environment.setup(LOG::info);
        }
        return info;
    }

    PythonSide side() {
        info();
        return new PythonSide(environment.executable(), environment.runnerFolder());
    }

    /** @throws CaravanException with all problems of the recipe */
    public CheckedRecipe recipe(Path recipe) {
        info();
        byte[] content;
        try {
            content = Disk.read(recipe);
        } catch (IOException e) {
            throw new CaravanException("cannot read the recipe " + recipe + ": " + e, e);
        }
        RecipeCheck check = new RecipeChecker(environment).check(recipe);
        if (!check.ok()) {
            StringBuilder message = new StringBuilder("the recipe " + recipe + " cannot be run shard by shard:");
            check.problems()
                    .forEach(problem -> message.append("\n  ")
                            .append(problem.where())
                            .append(": ")
                            .append(problem.message()));
            throw new CaravanException(message.toString());
        }
        RecipeFacts facts = new RecipeFacts(
                recipe,
                content,
                check.mediaKeys(),
                check.indexKeys(),
                check.warnings(),
                check.codeVersion(),
                new RecipeFacts.Checkpoints(
                        check.checkpoint().obstacles().stream()
                                .map(obstacle -> obstacle.where() + ": " + obstacle.message())
                                .toList(),
                        check.checkpoint().identity()));
        String dataset = check.datasetPath() == null
                ? null
                : recipe.toAbsolutePath()
                        .resolveSibling(check.datasetPath())
                        .normalize()
                        .toString();
        return new CheckedRecipe(facts, dataset, check.mostGpus(), check.sideEffects());
    }

    @Override
    public void check(Execution execution) {
        info();
        Path script = Path.of(Objects.requireNonNull(execution.script()).path());
        if (!Disk.isFile(script)) {
            throw new CaravanException("expected a Python file that all nodes see, found nothing at " + script);
        }
        environment.ask("script", execution.engine().toString(), script.toString());
    }

    @Override
    public long plan(Path request, Runnable check) {
        info();
        return environment
                .ask(check, line -> LOG.info("plan: {}", line), "plan", request.toString())
                .path("items")
                .asLong();
    }

    @Override
    public void collect(Path request) {
        info();
        environment.ask(() -> {}, line -> LOG.info("sink: {}", line), "collect", request.toString());
    }

    /** What keeps this node from working on a job that was prepared with {@code codeVersion}. */
    Optional<String> mismatch(@Nullable String codeVersion) {
        String here = info().codeVersion();
        if (here.equals(codeVersion) || allowMismatch) {
            return Optional.empty();
        }
        return Optional.of("the job was prepared with Data-Juicer " + codeVersion + " and this node has " + here
                + ": install the same, or allow it with --allow-version-mismatch");
    }
}
