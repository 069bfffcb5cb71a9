package dev.caravan.doctor.repair;

import dev.caravan.store.Disk;
import dev.caravan.store.Evidence;
import dev.caravan.store.Json;
import dev.caravan.store.Layout;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Reads a job directory without trusting it. */
final class Records {
    private Records() {}

    /** @param value null if it cannot be read as what it should be */
    record Read<T>(@Nullable T value, int bytes) {}

    static <T> Optional<Read<T>> read(Path file, Class<T> type) throws IOException {
        Optional<byte[]> content = Disk.readIfPresent(file);
        if (content.isEmpty()) {
            return Optional.empty();
        }
        int bytes = content.get().length;
        try {
            return Optional.of(new Read<>(Json.parse(content.get(), type), bytes));
        } catch (IOException | IllegalArgumentException torn) {
            return Optional.of(new Read<>(null, bytes));
        }
    }

    static String torn(Read<?> read) {
        return read.bytes() == 0 ? "empty" : read.bytes() + " bytes that are no record of this version";
    }

    /** Unfinished files in a folder, to be deleted if nobody writes them. */
    static List<Case> unfinished(Layout.Job job, Path folder) throws IOException {
        List<Case> found = new ArrayList<>();
        for (String name : Disk.list(folder)) {
            if (Layout.isTemporary(name)) {
                found.add(unfinished(job, folder.resolve(name), "a temporary file"));
            }
        }
        return found;
    }

    static Case unfinished(Layout.Job job, Path path, String what) throws IOException {
        return Case.fixable(
                path(job, path),
                what + " that nobody has written to for a whole lease",
                "whoever wrote it is dead; it counts for nothing",
                "deletes it",
                Evidence.of(path),
                bench -> bench.delete(path));
    }

    static Case foreign(Layout.Job job, Path path, String expected) throws IOException {
        return Case.fixable(
                path(job, path),
                "does not belong there (expected " + expected + ")",
                "nodes stop at names that they do not know, or count them",
                "moves it to state/history",
                Evidence.of(path),
                bench -> bench.moveAside(path));
    }

    static String path(Layout.Job job, Path path) {
        return path.startsWith(job.path()) ? job.relative(path) : path.toString();
    }
}
