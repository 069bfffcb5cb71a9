package dev.caravan.bench;

import dev.caravan.chaos.Needs;
import dev.caravan.chaos.Storage;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Where nodes may share a directory. */
enum Place {
    /** Nothing waits for a disk: what is left is Caravan's own work. */
    MEMORY("memory"),
    DISK("local disk"),
    /** A mount for each node, whose server is on this machine. */
    GLUSTER("GlusterFS");

    private static final Path IN_MEMORY = Path.of("/dev/shm");

    final String label;

    Place(String label) {
        this.label = label;
    }

    /** @return why it cannot be had on this machine */
    Optional<String> missing() {
        return switch (this) {
            case MEMORY ->
                Files.isWritable(IN_MEMORY) ? Optional.empty() : Optional.of("there is no " + IN_MEMORY + " here");
            case DISK -> Optional.empty();
            case GLUSTER -> Needs.missing();
        };
    }

    /**
     * @param seen the directory, as this process sees it
     * @param shared the same, as nodes see it
     * @param storage null where all see the same
     */
    record Open(Path seen, Path shared, @Nullable Storage storage) implements AutoCloseable {
        /** What a node's command begins with, so that it has a mount of its own. */
        List<String> wrapper(int node) {
            if (storage == null) {
                return List.of();
            }
            String script = "mount --bind \"$1\" \"$2\" && shift 2 && exec \"$@\"";
            return List.of(
                    "unshare",
                    "-m",
                    "sh",
                    "-c",
                    script,
                    "sh",
                    storage.mount(node).toString(),
                    storage.shared().toString());
        }

        @Override
        public void close() throws IOException {
            if (storage != null) {
                storage.close();
                return;
            }
            try (var files = Files.walk(seen)) {
                files.sorted(Comparator.reverseOrder()).forEach(Open::delete);
            }
        }

        private static void delete(Path path) {
            try {
                Files.delete(path);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    /** A new empty directory there, which is removed when it is closed. */
    Open open(Path folder, int nodes) throws IOException {
        if (this == GLUSTER) {
            Storage storage = Storage.start(Files.createTempDirectory(folder, "gluster-"), nodes, "");
            return new Open(storage.own(), storage.shared(), storage);
        }
        Path made = Files.createTempDirectory(this == MEMORY ? IN_MEMORY : folder, "bench-");
        return new Open(made, made, null);
    }

    /** Those of the named ones that this machine has; says which it lacks. */
    static List<Place> named(List<String> names) {
        List<Place> places = new ArrayList<>();
        for (String name : names) {
            Place place = valueOf(name.toUpperCase(Locale.ROOT));
            place.missing()
                    .ifPresentOrElse(
                            why -> System.out.println("left out: " + place.label + ": " + why),
                            () -> places.add(place));
        }
        return places;
    }
}
