package dev.caravan.store;

import dev.caravan.jsonl.Sha256;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The files of a job's script: it alone, or the whole folder that it needs. What Python compiles, and what is hidden, does
 * not belong to them.
 */
public final class ScriptFolder {
    private final SortedMap<String, Path> files;

    private ScriptFolder(SortedMap<String, Path> files) {
        this.files = files;
    }

    /** @param folder null for a script that needs no other file of its own */
    public static ScriptFolder of(Path script, @Nullable Path folder) throws IOException {
        if (folder != null) {
            return new ScriptFolder(below(folder));
        }
        SortedMap<String, Path> alone = new TreeMap<>();
        alone.put(script.getFileName().toString(), script);
        return new ScriptFolder(alone);
    }

    /** A copy that was made for a job. */
    public static ScriptFolder snapshot(Path folder) throws IOException {
        return new ScriptFolder(below(folder));
    }

    private static SortedMap<String, Path> below(Path folder) throws IOException {
        SortedMap<String, Path> found = new TreeMap<>();
        try (Stream<Path> all = Files.walk(folder)) {
            all.filter(Files::isRegularFile).forEach(file -> {
                String name = folder.relativize(file).toString();
                if (Stream.of(name.split("/")).noneMatch(ScriptFolder::isLeftOut)) {
                    found.put(name, file);
                }
            });
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
        return found;
    }

    private static boolean isLeftOut(String name) {
        return name.startsWith(".") || name.equals("__pycache__") || name.endsWith(".pyc");
    }

    /** Of names and contents, hex. */
    public String sha256() throws IOException {
        MessageDigest digest = Sha256.digest();
        for (var file : files.entrySet()) {
            byte[] content = Disk.read(file.getValue());
            digest.update((file.getKey() + "\n" + content.length + "\n").getBytes(StandardCharsets.UTF_8));
            digest.update(content);
        }
        return HexFormat.of().formatHex(digest.digest());
    }

    public void copyTo(Path target) throws IOException {
        Disk.createDirectories(target);
        for (var file : files.entrySet()) {
            Path copy = target.resolve(file.getKey());
            Disk.createDirectories(copy.getParent());
            Disk.replace(copy, Disk.read(file.getValue()));
        }
    }
}
