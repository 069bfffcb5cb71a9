package dev.caravan.python;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.databind.JsonNode;
import dev.caravan.store.Json;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.Stream;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;
import org.yaml.snakeyaml.error.YAMLException;

/** Asks the Python side about a recipe. The answer takes seconds and is kept for as long as nothing it rests on changes. */
public final class RecipeChecker {
    private final PythonEnvironment environment;

    public RecipeChecker(PythonEnvironment environment) {
        this.environment = environment;
    }

    /** @throws PythonException if the recipe cannot be read or Python not be asked; a bad recipe is an answer, not an error */
    public RecipeCheck check(Path recipe) {
        Path path = recipe.toAbsolutePath().normalize();
        Path kept = environment.cache().resolve("recipes").resolve(key(path) + ".json");
        Optional<RecipeCheck> before = read(kept);
        if (before.isPresent()) {
            return before.get();
        }
        JsonNode answer = environment.ask("recipe", path.toString());
        byte[] json = Json.bytes(answer);
        RecipeCheck check = parse(json);
        keep(kept, json);
        return check;
    }

    private static Optional<RecipeCheck> read(Path kept) {
        try {
            return Files.isRegularFile(kept) ? Optional.of(parse(Files.readAllBytes(kept))) : Optional.empty();
        } catch (IOException | PythonException unreadable) {
            return Optional.empty();
        }
    }

    private static RecipeCheck parse(byte[] json) {
        try {
            return Json.parse(json, RecipeCheck.class);
        } catch (IOException | NullPointerException e) {
            String why = e instanceof JacksonException jackson ? jackson.getOriginalMessage() : e.toString();
            throw new PythonException("the Python side answered in an unknown form: " + why, e);
        }
    }

    /** A cache that cannot be written costs seconds, nothing else. */
    private static void keep(Path kept, byte[] json) {
        Path part = kept.resolveSibling(kept.getFileName() + "." + UUID.randomUUID());
        try {
            Files.createDirectories(kept.getParent());
            Files.write(part, json);
            Files.move(part, kept, StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException e) {
            RunnerFiles.delete(part);
        }
    }

    /** All that the answer depends on: recipe, where it lies, custom operators, Data-Juicer's code and our own. */
    private String key(Path recipe) {
        MessageDigest digest = RunnerFiles.sha256();
        byte[] content;
        try {
            content = Files.readAllBytes(recipe);
        } catch (IOException e) {
            throw new PythonException("cannot read the recipe " + recipe + ": " + e.getMessage(), e);
        }
        add(digest, recipe.toString().getBytes(StandardCharsets.UTF_8));
        add(digest, content);
        PythonInfo info = environment.info();
        add(digest, (info.executable() + "\n" + info.codeVersion()).getBytes(StandardCharsets.UTF_8));
        add(digest, environment.runnerFolder().getFileName().toString().getBytes(StandardCharsets.UTF_8));
        for (Path file : customFiles(recipe, content)) {
            add(digest, file.toString().getBytes(StandardCharsets.UTF_8));
            try {
                add(digest, Files.readAllBytes(file));
            } catch (IOException absent) {
                add(digest, new byte[0]);
            }
        }
        return HexFormat.of().formatHex(digest.digest());
    }

    private static void add(MessageDigest digest, byte[] part) {
        digest.update((part.length + ":").getBytes(StandardCharsets.UTF_8));
        digest.update(part);
    }

    /** A recipe that is not YAML has none; what is wrong with it is for the Python side to say. */
    private static List<Path> customFiles(Path recipe, byte[] content) {
        List<Path> files = new ArrayList<>();
        try {
            Object loaded = new Yaml(new SafeConstructor(new LoaderOptions()))
                    .load(new String(content, StandardCharsets.UTF_8));
            if (loaded instanceof java.util.Map<?, ?> map
                    && map.get("custom_operator_paths") instanceof List<?> paths) {
                for (Object path : paths) {
                    addFiles(recipe.resolveSibling(String.valueOf(path)), files);
                }
            }
        } catch (YAMLException notYaml) {
            return List.of();
        }
        return files;
    }

    private static void addFiles(Path path, List<Path> files) {
        if (!Files.isDirectory(path)) {
            files.add(path);
            return;
        }
        try (Stream<Path> all = Files.walk(path)) {
            all.filter(file -> file.toString().endsWith(".py")).sorted().forEach(files::add);
        } catch (IOException e) {
            files.add(path);
        }
    }
}
