package dev.caravan.store;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;

/**
 * A folder on a disk of this machine for files that one process needs for a while. It is removed when the process ends;
 * what a killed one left, the next one removes: each holds a lock that the system lets go of with its holder.
 */
public final class LocalFolder implements AutoCloseable {
    private static final String PREFIX = "caravan-shards-";
    private static final String OWNER = ".owner";

    private final Path path;
    private final FileChannel owner;

    private LocalFolder(Path path, FileChannel owner) {
        this.path = path;
        this.owner = owner;
    }

    /** Makes one below a folder, which is made too if it is not there. */
    public static LocalFolder in(Path parent) throws IOException {
        Disk.createDirectories(parent);
        removeAbandoned(parent);
        Path path = Files.createTempDirectory(parent, PREFIX);
        FileChannel owner = FileChannel.open(
                path.resolve(OWNER), StandardOpenOption.CREATE_NEW, StandardOpenOption.READ, StandardOpenOption.WRITE);
        owner.lock();
        return new LocalFolder(path, owner);
    }

    private static void removeAbandoned(Path parent) throws IOException {
        List<String> names = Disk.list(parent);
        for (String name : names) {
            if (name.startsWith(PREFIX)) {
                removeIfAbandoned(parent.resolve(name));
            }
        }
    }

    /** Somebody else's folder that cannot be locked or removed is left to them. */
    private static void removeIfAbandoned(Path folder) {
        try (FileChannel owner =
                        FileChannel.open(folder.resolve(OWNER), StandardOpenOption.READ, StandardOpenOption.WRITE);
                FileLock lock = owner.tryLock()) {
            if (lock != null) {
                Disk.deleteTree(folder);
            }
        } catch (IOException | OverlappingFileLockException inUse) {
            // its owner, or the next one that may, removes it
        }
    }

    public Path newFolder(String name) throws IOException {
        return Files.createDirectory(path.resolve(name));
    }

    public long freeBytes() throws IOException {
        return Space.freeBytes(path);
    }

    /** Not buffered, and not made durable. */
    public static OutputStream write(Path file) throws IOException {
        return Files.newOutputStream(file, StandardOpenOption.CREATE_NEW);
    }

    @Override
    public void close() {
        try (owner) {
            Disk.deleteTree(path);
        } catch (IOException stays) {
            // the next process removes it
        }
    }
}
