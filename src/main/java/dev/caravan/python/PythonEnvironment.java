package dev.caravan.python;

import com.fasterxml.jackson.databind.JsonNode;
import dev.caravan.store.Json;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The Python with Data-Juicer and Ray: the one that {@code python.executable} names, or one that Caravan makes in the
 * user's cache folder. Thread-safe; several processes of one user share the cache.
 */
public final class PythonEnvironment {
    private static final Duration PATIENCE = Duration.ofMinutes(2);
    private static final String NONE =
            "the Python environment is not set up: run caravan python setup, or set python.executable to an environment"
                    + " with py-data-juicer and ray[default]";

    private final String configured;
    private final Path cache;
    private final Map<String, String> surroundings;
    private @Nullable PythonInfo known;

    PythonEnvironment(String configured, Path cache, Map<String, String> surroundings) {
        this.configured = configured.strip();
        this.cache = cache.toAbsolutePath();
        this.surroundings = Map.copyOf(surroundings);
    }

    /** @param configuredExecutable a path or a name on the {@code PATH}; empty for the environment that Caravan makes */
    public static PythonEnvironment of(String configuredExecutable) {
        return of(configuredExecutable, defaultCacheFolder());
    }

    public static PythonEnvironment of(String configuredExecutable, Path cacheFolder) {
        return new PythonEnvironment(configuredExecutable, cacheFolder, System.getenv());
    }

    /** {@code ${XDG_CACHE_HOME:-~/.cache}/caravan} */
    public static Path defaultCacheFolder() {
        String xdg = System.getenv("XDG_CACHE_HOME");
        Path base =
                xdg != null && xdg.startsWith("/") ? Path.of(xdg) : Path.of(System.getProperty("user.home"), ".cache");
        return base.resolve("caravan");
    }

    /** Makes the environment unless it is there, which takes minutes the first time, and says what is in it. */
    public PythonInfo setup(Consumer<String> progress) {
        if (configured.isEmpty()) {
            new ManagedEnvironment(cache, surroundings).setup(progress);
        }
        return info();
    }

    /**
     * Makes nothing.
     *
     * @throws PythonException if there is no environment or it lacks a package
     */
    public synchronized PythonInfo info() {
        if (known == null) {
            JsonNode said = ask("info");
            known = new PythonInfo(
                    said.path("executable").asText(),
                    said.path("python").asText(),
                    said.path("data_juicer").asText(),
                    said.path("ray").asText(),
                    said.path("code_version").asText());
        }
        return known;
    }

    /** @throws PythonException if there is none */
    public Path executable() {
        if (configured.isEmpty()) {
            return new ManagedEnvironment(cache, surroundings)
                    .interpreter()
                    .orElseThrow(() -> new PythonException(NONE));
        }
        Path found = configured.contains("/")
                ? Path.of(configured).toAbsolutePath()
                : Command.onPath(surroundings.get("PATH"), configured);
        if (found == null) {
            throw new PythonException("python.executable: there is no " + configured + " on the PATH");
        }
        if (!Files.isRegularFile(found) || !Files.isExecutable(found)) {
            throw new PythonException("python.executable: expected a Python interpreter, found "
                    + (Files.exists(found) ? "something that cannot be executed" : "nothing") + " at " + found);
        }
        return found;
    }

    /** The folder that {@code PYTHONPATH} must name for {@code python -m caravan_runner}. */
    public Path runnerFolder() {
        return RunnerFiles.unpack(cache);
    }

    Path cache() {
        return cache;
    }

    /** Runs a command of the runner that answers with one JSON object. */
    public JsonNode ask(String... arguments) {
        return answer(command(arguments), command -> command.run(PATIENCE));
    }

    /**
     * The same for as long as it takes.
     *
     * @param check called every second or so; may throw to end it
     * @param lines each line of what it prints for people
     */
    public JsonNode ask(Runnable check, Consumer<String> lines, String... arguments) {
        return answer(command(arguments), command -> command.run(check, lines));
    }

    private Command command(String... arguments) {
        Map<String, String> environment = new TreeMap<>(surroundings);
        environment.keySet().removeAll(List.of("PYTHONHOME", "PYTHONDONTWRITEBYTECODE"));
        String path = surroundings.getOrDefault("PYTHONPATH", "");
        String runner = runnerFolder().toString();
        environment.put("PYTHONPATH", path.isEmpty() ? runner : runner + ":" + path);
        List<String> words = new ArrayList<>(List.of(executable().toString(), "-m", RunnerFiles.PACKAGE));
        words.addAll(List.of(arguments));
        return new Command(environment, words);
    }

    private static JsonNode answer(Command command, Function<Command, Command.Result> run) {
        Command.Result result = run.apply(command);
        JsonNode answer;
        try {
            answer = Json.tree(result.out().getBytes(StandardCharsets.UTF_8));
        } catch (IOException e) {
            answer = null;
        }
        if (answer == null || !answer.isObject()) {
            throw new PythonException("expected an answer from " + command + ", it ended with " + result.status()
                    + " and said:\n" + result.said());
        }
        if (answer.hasNonNull("error")) {
            throw new PythonException(answer.get("error").asText());
        }
        return answer;
    }
}
