package dev.caravan.sim;

import dev.caravan.store.SharedDirectory;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The server of a shared directory in memory. Names are given, replaced and removed at once and in one order; what each
 * client gets to see of it, and when, depends on the {@link Lateness} and on the client's own caches. Thread-safe.
 */
final class ModelDirectory {

    /** Told of each change at the moment it happens. */
    interface Changes {
        Changes IGNORED = new Changes() {};

        default void linked(int client, Path path, byte[] content) {}

        default void replaced(int client, Path path, byte[] content) {}

        default void removed(int client, Path path) {}

        default void touched(int client, Path path) {}
    }

    /** A file, whatever its names. */
    static final class Inode {
        private final byte[] content;
        private final List<Version<FileTime>> times = new ArrayList<>();

        private Inode(byte[] content) {
            this.content = content;
        }

        byte[] content() {
            return content;
        }
    }

    /** @param value null for a name that is removed */
    private record Version<T>(
            long number, long at, int by, @Nullable T value) {}

    /** The server's wall clock at true time zero; right, where those of clients may be wrong. */
    static final Instant BEGINNING = Instant.parse("2026-10-01T00:00:00Z");

    private static final int KEPT = 6;

    private final LongSupplier clock;
    private final Lateness lateness;
    private final Changes changes;
    private final Map<Path, Map<String, List<Version<Inode>>>> directories = new TreeMap<>();
    private long numbers;

    /** @param clock true time in nanoseconds */
    ModelDirectory(LongSupplier clock, Lateness lateness, Changes changes) {
        this.clock = clock;
        this.lateness = lateness;
        this.changes = changes;
    }

    /** A client's mount of the directory. */
    SharedDirectory mount(int client, Network network) {
        return new ModelMount(this, client, network);
    }

    long now() {
        return clock.getAsLong();
    }

    synchronized void makeDirectory(Path directory) {
        directories.putIfAbsent(directory, new TreeMap<>());
    }

    synchronized boolean hasDirectory(Path directory) {
        return directories.containsKey(directory);
    }

    /** Gives the content a name that nobody has. @return whether it was free */
    synchronized boolean link(int client, Path path, byte[] content) {
        List<Version<Inode>> name = name(path);
        if (current(name) != null) {
            return false;
        }
        name.add(version(client, newInode(client, content)));
        changes.linked(client, path, content);
        return true;
    }

    synchronized void replace(int client, Path path, byte[] content) {
        List<Version<Inode>> name = name(path);
        add(name, version(client, newInode(client, content)), lateness.content());
        changes.replaced(client, path, content);
    }

    synchronized void remove(int client, Path path) {
        List<Version<Inode>> name = versions(path);
        if (current(name) != null) {
            name.add(version(client, null));
            changes.removed(client, path);
        }
    }

    /** @return whether there is such a file */
    synchronized boolean touch(int client, Path path, FileTime time) {
        Inode inode = current(versions(path));
        if (inode == null) {
            return false;
        }
        add(inode.times, version(client, time), lateness.content());
        changes.touched(client, path);
        return true;
    }

    /** What a client that asks the server gets: of the newest versions, the last that has reached it. */
    synchronized @Nullable Inode seen(int client, Path path) {
        List<Version<Inode>> name =
                names(path.getParent()).get(path.getFileName().toString());
        return name == null ? null : reached(client, name);
    }

    synchronized @Nullable FileTime timeSeen(int client, Inode inode) {
        return seen(client, inode.times, lateness.content());
    }

    synchronized List<String> namesSeen(int client, Path directory) {
        List<String> seen = new ArrayList<>();
        names(directory).entrySet().removeIf(name -> {
            if (reached(client, name.getValue()) != null) {
                seen.add(name.getKey());
            }
            return isForgotten(name.getValue());
        });
        return seen;
    }

    /** What really is there now. */
    synchronized byte @Nullable [] truth(Path path) {
        List<Version<Inode>> name =
                names(path.getParent()).get(path.getFileName().toString());
        Inode inode = name == null ? null : current(name);
        return inode == null ? null : inode.content();
    }

    synchronized List<String> trueNames(Path directory) {
        return names(directory).entrySet().stream()
                .filter(name -> current(name.getValue()) != null)
                .map(Map.Entry::getKey)
                .toList();
    }

    Lateness lateness() {
        return lateness;
    }

    private Map<String, List<Version<Inode>>> names(@Nullable Path directory) {
        Map<String, List<Version<Inode>>> names = directories.get(directory);
        return names == null ? Map.of() : names;
    }

    private List<Version<Inode>> versions(Path path) {
        return names(path.getParent()).getOrDefault(path.getFileName().toString(), List.of());
    }

    /** The versions of a name that is about to be given. */
    private List<Version<Inode>> name(Path path) {
        return directories
                .get(path.getParent())
                .computeIfAbsent(path.getFileName().toString(), n -> new ArrayList<>());
    }

    private Inode newInode(int client, byte[] content) {
        Inode inode = new Inode(content);
        inode.times.add(version(client, FileTime.from(BEGINNING.plusNanos(now()))));
        return inode;
    }

    private <T> Version<T> version(int client, @Nullable T value) {
        return new Version<>(numbers++, now(), client, value);
    }

    /** Forgets what nobody can see any more. */
    private <T> void add(List<Version<T>> versions, Version<T> newest, Duration late) {
        versions.add(newest);
        while (versions.size() > KEPT && now() - versions.get(1).at() > late.toNanos()) {
            versions.remove(0);
        }
    }

    private boolean isForgotten(List<Version<Inode>> name) {
        Version<Inode> last = name.get(name.size() - 1);
        return last.value() == null && now() - last.at() > lateness.names().toNanos();
    }

    private static @Nullable Inode current(List<Version<Inode>> name) {
        return name.isEmpty() ? null : name.get(name.size() - 1).value();
    }

    /** The first version of a name is late as a name, a later one as content, a removal as a name again. */
    private @Nullable Inode reached(int client, List<Version<Inode>> name) {
        for (int i = name.size() - 1; i >= 0; i--) {
            Version<Inode> version = name.get(i);
            boolean isName =
                    i == 0 || version.value() == null || name.get(i - 1).value() == null;
            if (hasReached(client, version, isName ? lateness.names() : lateness.content())) {
                return version.value();
            }
        }
        return null;
    }

    private <T> @Nullable T seen(int client, List<Version<T>> versions, Duration late) {
        for (int i = versions.size() - 1; i > 0; i--) {
            if (hasReached(client, versions.get(i), late)) {
                return versions.get(i).value();
            }
        }
        return versions.get(0).value();
    }

    private boolean hasReached(int client, Version<?> version, Duration late) {
        return version.by() == client || now() - version.at() >= lateness.draw(late, version.number() * 64 + client);
    }
}
