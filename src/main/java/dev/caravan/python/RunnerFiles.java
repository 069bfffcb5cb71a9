package dev.caravan.python;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Stream;

/** The Python files that are packaged with Caravan. A class path cannot be listed, so they are listed here. */
final class RunnerFiles {
    static final String PACKAGE = "caravan_runner";
    static final List<String> MODULES = List.of(
            "__init__.py",
            "__main__.py",
            "carry.py",
            "chain.py",
            "chance.py",
            "checkpoint.py",
            "collect.py",
            "commit_log.py",
            "compat.py",
            "crew.py",
            "data_juicer_engine.py",
            "data_juicer_warm.py",
            "engines.py",
            "entry.py",
            "followable.py",
            "identity.py",
            "info.py",
            "mini_batch/__init__.py",
            "mini_batch/engine.py",
            "mini_batch/logs.py",
            "mini_batch/monitor.py",
            "mini_batch/pool.py",
            "mini_batch/returned.py",
            "mini_batch/shard_work.py",
            "mini_batch/tables.py",
            "mini_batch/units.py",
            "mini_batch/worker.py",
            "no_agent.py",
            "outcome.py",
            "plan_execute.py",
            "planning.py",
            "poison.py",
            "ray_folder.py",
            "ray_local.py",
            "recipe.py",
            "recipe_file.py",
            "records.py",
            "script.py",
            "serve.py",
            "shard.py",
            "speed.py",
            "task.py",
            "task_worker.py",
            "warm.py",
            "worker.py");
    static final String LOCK = "requirements.lock";
    static final String BOOTSTRAP_LOCK = "bootstrap.lock";

    private RunnerFiles() {}

    static byte[] read(String name) {
        try (InputStream in = RunnerFiles.class.getResourceAsStream("/python/" + name)) {
            if (in == null) {
                throw new PythonException("this build of Caravan lacks its file python/" + name + ": build it anew");
            }
            return in.readAllBytes();
        } catch (IOException e) {
            throw new PythonException("cannot read python/" + name + " of this build: " + e.getMessage(), e);
        }
    }

    /** Copies the runner to a folder named after its content, once. @return what to put on {@code PYTHONPATH} */
    static Path unpack(Path cache) {
        Map<String, byte[]> files = new LinkedHashMap<>();
        MODULES.forEach(name -> files.put(name, read(PACKAGE + "/" + name)));
        Path folder = cache.resolve("runner-" + hash(files));
        if (Files.isDirectory(folder)) {
            return folder;
        }
        Path part = cache.resolve("runner.building-" + UUID.randomUUID());
        try {
            for (Map.Entry<String, byte[]> file : files.entrySet()) {
                Path target = part.resolve(PACKAGE).resolve(file.getKey());
                Files.createDirectories(target.getParent());
                Files.write(target, file.getValue());
            }
            move(part, folder);
            return folder;
        } catch (IOException e) {
            throw new PythonException("cannot write the Python runner to " + folder + ": " + e.getMessage(), e);
        } finally {
            delete(part);
        }
    }

    /** Another process may have been first: its folder is as good as ours. */
    private static void move(Path part, Path folder) throws IOException {
        try {
            Files.move(part, folder, StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException e) {
            if (!Files.isDirectory(folder)) {
                throw e;
            }
        }
    }

    private static String hash(Map<String, byte[]> files) {
        MessageDigest digest = sha256();
        files.forEach((name, content) -> {
            digest.update((name + "\0" + content.length + "\0").getBytes(StandardCharsets.UTF_8));
            digest.update(content);
        });
        return HexFormat.of().formatHex(digest.digest()).substring(0, 16);
    }

    static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Removes a tree as far as that is possible; what stays is swept the next time. */
    static void delete(Path tree) {
        if (!Files.exists(tree)) {
            return;
        }
        try (Stream<Path> all = Files.walk(tree)) {
            all.sorted(Comparator.reverseOrder()).forEach(path -> path.toFile().delete());
        } catch (IOException e) {
            // named after a finished or abandoned build: harmless
        }
    }
}
