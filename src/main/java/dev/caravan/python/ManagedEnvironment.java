package dev.caravan.python;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AtomicMoveNotSupportedException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Consumer;

/**
 * The environment that Caravan makes for itself, in a folder named after the lock and the Python version. It is built
 * beside its place and moved there when it is complete, so that one that was killed half-way is never used.
 */
final class ManagedEnvironment {
    private static final String COMPLETE = "complete";
    private static final String BUILDING = ".building-";

    private final Path cache;
    private final Map<String, String> environment;

    ManagedEnvironment(Path cache, Map<String, String> environment) {
        this.cache = cache;
        this.environment = Map.copyOf(environment);
    }

    /** The interpreter of the environment, if there is one. */
    Optional<Path> interpreter() {
        Path folder = folder(BaseInterpreter.find(environment));
        return isComplete(folder) ? Optional.of(python(folder)) : Optional.empty();
    }

    /** Makes the environment unless it is there. Any number of processes may ask at once: one makes it, others wait. */
    Path setup(Consumer<String> progress) {
        BaseInterpreter base = BaseInterpreter.find(environment);
        Path folder = folder(base);
        if (isComplete(folder)) {
            return python(folder);
        }
        Path lock = cache.resolve(folder.getFileName() + ".lock");
        try (SetupLock held = SetupLock.take(
                lock,
                () -> progress.accept("waiting for another process that sets up the Python environment " + folder))) {
            if (!isComplete(folder)) {
                sweep(folder);
                build(base, folder, progress);
            }
            return python(folder);
        }
    }

    private void build(BaseInterpreter base, Path folder, Consumer<String> progress) {
        Path part = cache.resolve(folder.getFileName() + BUILDING + UUID.randomUUID());
        try {
            Files.createDirectories(part);
            double seconds = new Installation(base, environment, progress).into(part);
            Files.writeString(part.resolve(COMPLETE), base.executable() + "\n");
            Files.move(part, folder, StandardCopyOption.ATOMIC_MOVE);
            progress.accept(String.format(Locale.ROOT, "Python environment ready after %.0f s: %s", seconds, folder));
        } catch (AtomicMoveNotSupportedException e) {
            throw new PythonException(
                    "the cache folder " + cache + " cannot rename folders: set XDG_CACHE_HOME to a local one", e);
        } catch (IOException e) {
            throw new PythonException("cannot write the Python environment to " + folder + ": " + e.getMessage(), e);
        } finally {
            RunnerFiles.delete(part);
        }
    }

    /** Whatever carries this name is unfinished, and the lock says that nobody works on it. */
    private void sweep(Path folder) {
        String unfinished = folder.getFileName() + BUILDING;
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(cache, unfinished + "*")) {
            entries.forEach(RunnerFiles::delete);
        } catch (IOException e) {
            throw new PythonException("cannot read the cache folder " + cache + ": " + e.getMessage(), e);
        }
        RunnerFiles.delete(folder);
    }

    private static boolean isComplete(Path folder) {
        return Files.isRegularFile(folder.resolve(COMPLETE)) && Files.isExecutable(python(folder));
    }

    private static Path python(Path folder) {
        return folder.resolve("venv").resolve("bin").resolve("python");
    }

    private Path folder(BaseInterpreter base) {
        MessageDigest digest = RunnerFiles.sha256();
        digest.update(RunnerFiles.read(RunnerFiles.LOCK));
        digest.update(base.version().getBytes(StandardCharsets.UTF_8));
        return cache.resolve(
                "python-" + HexFormat.of().formatHex(digest.digest()).substring(0, 16));
    }
}
