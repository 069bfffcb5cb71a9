package dev.caravan.python;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;

/**
 * One set-up at a time on this host: a file lock between processes, which the system lets go of when its holder dies,
 * and an ordinary one between threads, since a file lock belongs to the whole process.
 */
final class SetupLock implements AutoCloseable {
    private static final Map<Path, ReentrantLock> THREADS = new ConcurrentHashMap<>();

    private final ReentrantLock threads;
    private final FileChannel channel;

    private SetupLock(ReentrantLock threads, FileChannel channel) {
        this.threads = threads;
        this.channel = channel;
    }

    /** @param waiting run once if somebody else holds it */
    static SetupLock take(Path file, Runnable waiting) {
        ReentrantLock threads = THREADS.computeIfAbsent(file.toAbsolutePath().normalize(), path -> new ReentrantLock());
        boolean told = false;
        if (!threads.tryLock()) {
            waiting.run();
            told = true;
            threads.lock();
        }
        FileChannel channel = null;
        try {
            Files.createDirectories(file.getParent());
            channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
            FileLock lock = channel.tryLock();
            if (lock == null) {
                if (!told) {
                    waiting.run();
                }
                channel.lock();
            }
            return new SetupLock(threads, channel);
        } catch (IOException e) {
            close(channel);
            threads.unlock();
            throw new PythonException(
                    "cannot lock " + file + " (" + e.getMessage()
                            + "): set XDG_CACHE_HOME to a local folder that can be written",
                    e);
        }
    }

    private static void close(@org.jspecify.annotations.Nullable FileChannel channel) {
        if (channel != null) {
            try {
                channel.close();
            } catch (IOException ignored) {
                // the lock goes with the process at the latest
            }
        }
    }

    @Override
    public void close() {
        close(channel);
        threads.unlock();
    }
}
