package dev.caravan.store;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.AtomicMoveNotSupportedException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * What Caravan asks of a file system: facts that are published whole and once, facts that their owner replaces, and
 * listings. Every write is on the disk, name included, when the method returns.
 */
public final class Disk {
    /** The file system, as coordination sees it. */
    public static final SharedDirectory SHARED = new SharedDirectory() {
        @Override
        public boolean publish(Path target, byte[] content) throws IOException {
            return Disk.publish(target, content);
        }

        @Override
        public void replace(Path target, byte[] content) throws IOException {
            Disk.replace(target, content);
        }

        @Override
        public Optional<byte[]> readIfPresent(Path file) throws IOException {
            return Disk.readIfPresent(file);
        }

        @Override
        public boolean exists(Path file) {
            return Disk.exists(file);
        }

        @Override
        public List<String> list(Path directory) throws IOException {
            return Disk.list(directory);
        }

        @Override
        public FileTime lastModified(Path file) throws IOException {
            return Files.getLastModifiedTime(file);
        }

        @Override
        public void touch(Path file, FileTime time) throws IOException {
            Files.setLastModifiedTime(file, time);
        }
    };

    private static final int STALE_ATTEMPTS = 5;
    private static final long STALE_PAUSE_NANOS = 6_000_000;
    private static final int MOST_TO_TRY = 1 << 20;
    static final String TEMPORARY = ".tmp-";
    /** What link(2) answers where there are no links: EPERM, EOPNOTSUPP, ENOSYS, EMLINK. */
    private static final Set<String> NO_LINKS =
            Set.of("Operation not permitted", "Operation not supported", "Function not implemented", "Too many links");

    private static final String STALE = "Stale file handle";
    /** ENOTCONN, ECONNABORTED, EIO, ESTALE, ETIMEDOUT, EHOSTDOWN, ESHUTDOWN: the mount could not say whether there is such a file. */
    private static final Set<String> MOUNT_TROUBLE = Set.of(
            "Transport endpoint is not connected",
            "Software caused connection abort",
            "Input/output error",
            STALE,
            "Connection timed out",
            "Host is down",
            "Cannot send after transport endpoint shutdown");

    private Disk() {}

    /**
     * Gives {@code content} the name {@code target} if nothing has it yet. The content is complete before it has the
     * name. After an answer of "exists" the file is compared with the content, since a network may lose the answer to
     * a link that succeeded and repeat the question.
     *
     * @return whether this call made the fact
     */
    public static boolean publish(Path target, byte[] content) throws IOException {
        return publish(target, content, Files::createLink);
    }

    static boolean publish(Path target, byte[] content, NewFile.Linking linking) throws IOException {
        Path temporary = temporaryFor(target);
        try {
            write(temporary, content);
            try {
                linking.link(target, temporary);
            } catch (FileAlreadyExistsException e) {
                return holds(target, content);
            } catch (UnsupportedOperationException | FileSystemException e) {
                if (!meansNoLinks(e)) {
                    throw e;
                }
                return publishWithoutLinks(target, content, e);
            }
            syncDirectory(target.getParent());
            return true;
        } finally {
            Files.deleteIfExists(temporary);
        }
    }

    private static boolean holds(Path target, byte[] content) throws IOException {
        return readIfPresent(target).map(found -> Arrays.equals(found, content)).orElse(false);
    }

    /**
     * Whether a mount cannot make links at all. A full, hung or dead mount fails in other words, and then nothing may be
     * made by the second primitive: its file could stay empty for ever.
     */
    static boolean meansNoLinks(Exception failure) {
        return failure instanceof UnsupportedOperationException
                || failure instanceof FileSystemException told && NO_LINKS.contains(String.valueOf(told.getReason()));
    }

    /** The second exclusive primitive, for mounts without hard links: readers may meet the file before its content. */
    private static boolean publishWithoutLinks(Path target, byte[] content, Exception noLinks) throws IOException {
        try (FileChannel out = FileChannel.open(target, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
            writeAllOrNothing(target, out, content);
        } catch (FileAlreadyExistsException e) {
            return holds(target, content);
        } catch (IOException e) {
            e.addSuppressed(noLinks);
            throw e;
        }
        syncDirectory(target.getParent());
        return true;
    }

    /** A torn fact would stand for ever, so the file that this call made goes again. */
    private static void writeAllOrNothing(Path made, FileChannel out, byte[] content) throws IOException {
        try {
            writeAll(out, content);
        } catch (IOException e) {
            try {
                Files.deleteIfExists(made);
            } catch (IOException stays) {
                e.addSuppressed(stays);
            }
            throw e;
        }
    }

    /** Replaces a fact that only its owner rewrites: readers see the old content or the new, never a mixture. */
    public static void replace(Path target, byte[] content) throws IOException {
        Path temporary = temporaryFor(target);
        try {
            write(temporary, content);
            rename(temporary, target);
        } finally {
            Files.deleteIfExists(temporary);
        }
    }

    /** Renames within one file system, replacing what is there, and makes the new name durable. */
    public static void rename(Path from, Path to) throws IOException {
        try {
            Files.move(from, to, StandardCopyOption.ATOMIC_MOVE);
        } catch (AtomicMoveNotSupportedException e) {
            throw new StoreException(
                    "cannot rename " + from + " to " + to + " in one step: both must be on the same file system", e);
        }
        syncDirectory(to.getParent());
    }

    /** Renames a directory to a name that must be free. @return whether it was free */
    public static boolean renameToNew(Path from, Path to) throws IOException {
        if (Files.exists(to)) {
            return false;
        }
        try {
            rename(from, to); // rename(2) of a directory replaces an empty directory only
        } catch (FileSystemException e) {
            if (Files.exists(to)) {
                return false;
            }
            throw e;
        }
        return true;
    }

    private static Path temporaryFor(Path target) {
        return target.resolveSibling(TEMPORARY + UUID.randomUUID());
    }

    private static void write(Path file, byte[] content) throws IOException {
        try (FileChannel out = FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
            writeAll(out, content);
        }
    }

    private static void writeAll(FileChannel out, byte[] content) throws IOException {
        ByteBuffer buffer = ByteBuffer.wrap(content);
        while (buffer.hasRemaining()) {
            out.write(buffer);
        }
        out.force(true);
    }

    /** Makes the names in a directory durable; a mount that cannot sync directories is left to its own promise. */
    public static void syncDirectory(Path directory) {
        try (FileChannel channel = FileChannel.open(directory, StandardOpenOption.READ)) {
            channel.force(true);
        } catch (IOException unsupported) {
            // Some network mounts refuse fsync on a directory and make names durable on their own.
        }
    }

    public static void sync(Path file) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            channel.force(true);
        }
    }

    public static byte[] read(Path file) throws IOException {
        return Files.readAllBytes(file);
    }

    /**
     * A file that was replaced on another host may give a stale handle (ESTALE) for as long as this host caches its
     * name: it is opened anew, for two seconds at most.
     */
    public static Optional<byte[]> readIfPresent(Path file) throws IOException {
        for (int attempt = 1; ; attempt++) {
            try {
                return Optional.of(Files.readAllBytes(file));
            } catch (NoSuchFileException | FileNotFoundException e) {
                return Optional.empty();
            } catch (IOException e) {
                if (attempt == STALE_ATTEMPTS || !isStaleHandle(e)) {
                    throw e;
                }
                LockSupport.parkNanos(STALE_PAUSE_NANOS << (2 * attempt));
            }
        }
    }

    /** The file that was opened, or the directory that was asked, is not there any more under this name. */
    public static boolean isStaleHandle(IOException e) {
        String reason = e instanceof FileSystemException known ? known.getReason() : e.getMessage();
        return reason != null && reason.contains(STALE);
    }

    /** Writes content to a stream. */
    @FunctionalInterface
    public interface Writing<T> {
        T to(OutputStream out) throws IOException;
    }

    /** Streams a file under a temporary name and gives it its own once it is complete and on the disk. */
    public static <T> T writeWhole(Path target, Writing<T> content) throws IOException {
        Path temporary = temporaryFor(target);
        try {
            T result;
            try (FileChannel channel =
                    FileChannel.open(temporary, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
                result = content.to(Channels.newOutputStream(channel));
                channel.force(true);
            }
            rename(temporary, target);
            return result;
        } finally {
            Files.deleteIfExists(temporary);
        }
    }

    /** Gives a file that never changes a second name, or a copy where the mount cannot. The name must be free. */
    public static void linkOrCopy(Path existing, Path name) throws IOException {
        try {
            Files.createLink(name, existing);
            syncDirectory(name.getParent());
        } catch (UnsupportedOperationException | FileSystemException e) {
            if (!meansNoLinks(e)) {
                throw e;
            }
            writeWhole(name, out -> Files.copy(existing, out));
        }
    }

    /** The end of a file, {@code most} bytes at most; empty if there is no such file. */
    public static Optional<byte[]> tail(Path file, int most) throws IOException {
        try (FileChannel in = FileChannel.open(file, StandardOpenOption.READ)) {
            long from = Math.max(0, in.size() - most);
            in.position(from);
            return Optional.of(Channels.newInputStream(in).readNBytes(most));
        } catch (NoSuchFileException e) {
            return Optional.empty();
        }
    }

    /** A file of /proc, which may vanish at any moment. */
    public static Optional<String> readKernelText(String path) {
        try {
            return Optional.of(Files.readString(Path.of(path), StandardCharsets.ISO_8859_1));
        } catch (IOException gone) {
            return Optional.empty();
        }
    }

    public static InputStream open(Path file) throws IOException {
        return Files.newInputStream(file);
    }

    /** @return fewer bytes if the file ends before */
    public static byte[] readPart(Path file, long offset, int length) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            ByteBuffer part = ByteBuffer.allocate(length);
            while (part.hasRemaining() && channel.read(part, offset + part.position()) >= 0) {}
            return Arrays.copyOf(part.array(), part.position());
        }
    }

    /** @throws StoreException if the mount does not answer: a dead mount does not mean that there is no such file */
    public static boolean exists(Path path) {
        return attributes(path).isPresent();
    }

    /** @throws StoreException if the mount does not answer */
    public static boolean isDirectory(Path path) {
        return attributes(path).filter(BasicFileAttributes::isDirectory).isPresent();
    }

    /** @throws StoreException if the mount does not answer */
    public static boolean isFile(Path path) {
        return attributes(path).filter(BasicFileAttributes::isRegularFile).isPresent();
    }

    private static Optional<BasicFileAttributes> attributes(Path path) {
        try {
            return Optional.of(Files.readAttributes(path, BasicFileAttributes.class));
        } catch (IOException e) {
            if (e instanceof FileSystemException told && MOUNT_TROUBLE.contains(String.valueOf(told.getReason()))) {
                throw new StoreException("cannot look at " + path + ": " + told.getReason(), e);
            }
            return Optional.empty();
        }
    }

    public static long size(Path file) throws IOException {
        return Files.size(file);
    }

    /** Bytes of a file, or of all files below a directory; 0 if there is none. */
    public static long treeSize(String path) {
        try (var files = Files.walk(Path.of(path))) {
            return files.mapToLong(file -> {
                        try {
                            return Files.isRegularFile(file) ? Files.size(file) : 0;
                        } catch (IOException gone) {
                            return 0;
                        }
                    })
                    .sum();
        } catch (IOException | UncheckedIOException gone) {
            return 0;
        }
    }

    /** What keeps this directory from taking {@code bytes} more bytes now; empty if it took them, or is not there. */
    public static Optional<String> trouble(Path directory, long bytes) {
        Path temporary = temporaryFor(directory.resolve("x"));
        try {
            try {
                write(temporary, new byte[(int) Math.min(bytes, MOST_TO_TRY)]);
            } finally {
                Files.deleteIfExists(temporary);
            }
            return Optional.empty();
        } catch (NoSuchFileException noSuchDirectory) {
            return Optional.empty();
        } catch (IOException e) {
            return Optional.of(e.toString());
        }
    }

    public static Path newTemporaryDirectory(String prefix) throws IOException {
        return Files.createTempDirectory(prefix);
    }

    /** What a child of this process is about to read; nothing waits for the disk. */
    public static void writeForChild(Path file, byte[] content) throws IOException {
        Files.write(file, content);
    }

    public static void createDirectories(Path directory) throws IOException {
        Files.createDirectories(directory);
    }

    /** @return false if the name is taken */
    public static boolean createNewDirectory(Path directory) throws IOException {
        try {
            Files.createDirectory(directory);
        } catch (FileAlreadyExistsException taken) {
            return false;
        }
        syncDirectory(directory.getParent());
        return true;
    }

    /** Names in a directory, sorted; none if it does not exist. */
    public static List<String> list(Path directory) throws IOException {
        List<String> names = new ArrayList<>();
        try (var entries = Files.newDirectoryStream(directory)) {
            for (Path entry : entries) {
                names.add(entry.getFileName().toString());
            }
        } catch (NoSuchFileException e) {
            return List.of();
        }
        names.sort(null);
        return names;
    }

    public static boolean deleteIfPresent(Path file) throws IOException {
        return Files.deleteIfExists(file);
    }

    /** Removes a directory unless something is in it. */
    public static void deleteIfEmpty(Path directory) throws IOException {
        try {
            Files.deleteIfExists(directory);
        } catch (DirectoryNotEmptyException inUse) {
            // somebody else's
        }
    }

    public static void deleteTree(Path directory) throws IOException {
        if (!Files.exists(directory)) {
            return;
        }
        Files.walkFileTree(directory, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                Files.deleteIfExists(file);
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult postVisitDirectory(Path visited, @Nullable IOException e) throws IOException {
                if (e != null) {
                    throw e;
                }
                Files.deleteIfExists(visited);
                return FileVisitResult.CONTINUE;
            }
        });
    }
}
