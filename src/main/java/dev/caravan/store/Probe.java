package dev.caravan.store;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.util.List;
import java.util.Optional;

/**
 * The single operations that coordination rests on, bare, so that what a mount does can be measured one by one. Tests
 * put a mount that lies in its place.
 */
public class Probe {
    /** Makes a new file, its content on the disk. @return false if the name is taken */
    public boolean create(Path file, byte[] content) throws IOException {
        try {
            write(file, content, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
            return true;
        } catch (FileAlreadyExistsException taken) {
            return false;
        }
    }

    /**
     * A second name for a file.
     *
     * @return false if the name is taken
     * @throws UnsupportedOperationException where the mount has no links
     */
    public boolean link(Path existing, Path name) throws IOException {
        try {
            Files.createLink(name, existing);
            return true;
        } catch (FileAlreadyExistsException taken) {
            return false;
        } catch (FileSystemException e) {
            if (Disk.meansNoLinks(e)) {
                throw new UnsupportedOperationException(e.getReason(), e);
            }
            throw e;
        }
    }

    /** How many names the file has, {@code st_nlink}. */
    public int links(Path file) throws IOException {
        return (Integer) Files.getAttribute(file, "unix:nlink", LinkOption.NOFOLLOW_LINKS);
    }

    public void rename(Path from, Path to) throws IOException {
        Files.move(from, to, StandardCopyOption.ATOMIC_MOVE);
    }

    public void append(Path file, byte[] content) throws IOException {
        write(file, content, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    }

    /** {@code fsync} of a file is part of each write: its error is the write's. */
    private void write(Path file, byte[] content, OpenOption... options) throws IOException {
        try (FileChannel out = FileChannel.open(file, options)) {
            ByteBuffer buffer = ByteBuffer.wrap(content);
            while (buffer.hasRemaining()) {
                out.write(buffer);
            }
            sync(out);
        }
    }

    protected void sync(FileChannel file) throws IOException {
        file.force(true);
    }

    public void syncDirectory(Path directory) throws IOException {
        try (FileChannel channel = FileChannel.open(directory, StandardOpenOption.READ)) {
            channel.force(true);
        }
    }

    public Optional<byte[]> read(Path file) throws IOException {
        try {
            return Optional.of(Files.readAllBytes(file));
        } catch (NoSuchFileException notThere) {
            return Optional.empty();
        }
    }

    public List<String> list(Path directory) throws IOException {
        return Disk.list(directory);
    }

    public FileTime lastModified(Path file) throws IOException {
        return Files.getLastModifiedTime(file);
    }

    public void touch(Path file, FileTime time) throws IOException {
        Files.setLastModifiedTime(file, time);
    }

    /** By opening the file anew, which makes network mounts check what they have cached; 0 if there is none. */
    public long size(Path file) throws IOException {
        try (FileChannel in = FileChannel.open(file, StandardOpenOption.READ)) {
            return in.size();
        } catch (NoSuchFileException notThere) {
            return 0;
        }
    }

    public void delete(Path file) throws IOException {
        Files.deleteIfExists(file);
    }

    /** A lock of the kind {@code fcntl} makes; empty if another process has it. */
    public Optional<AutoCloseable> lock(Path file) throws IOException {
        FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        try {
            if (channel.tryLock() != null) {
                return Optional.of(channel);
            }
        } catch (OverlappingFileLockException heldByThisProcess) {
            // as taken as by any other
        } catch (IOException e) {
            channel.close();
            throw e;
        }
        channel.close();
        return Optional.empty();
    }
}
