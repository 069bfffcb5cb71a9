package dev.caravan.claim;

import dev.caravan.store.Disk;
import dev.caravan.store.SharedDirectory;
import java.io.IOException;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;

/** The real directory, with its operations counted. */
final class CountingDirectory implements SharedDirectory {
    final AtomicInteger listings = new AtomicInteger();
    final AtomicInteger reads = new AtomicInteger();
    final AtomicInteger others = new AtomicInteger();

    @Override
    public boolean publish(Path target, byte[] content) throws IOException {
        others.incrementAndGet();
        return Disk.SHARED.publish(target, content);
    }

    @Override
    public void replace(Path target, byte[] content) throws IOException {
        others.incrementAndGet();
        Disk.SHARED.replace(target, content);
    }

    @Override
    public Optional<byte[]> readIfPresent(Path file) throws IOException {
        reads.incrementAndGet();
        return Disk.SHARED.readIfPresent(file);
    }

    @Override
    public boolean exists(Path file) {
        others.incrementAndGet();
        return Disk.SHARED.exists(file);
    }

    @Override
    public List<String> list(Path directory) throws IOException {
        listings.incrementAndGet();
        return Disk.SHARED.list(directory);
    }

    @Override
    public FileTime lastModified(Path file) throws IOException {
        others.incrementAndGet();
        return Disk.SHARED.lastModified(file);
    }

    @Override
    public void touch(Path file, FileTime time) throws IOException {
        others.incrementAndGet();
        Disk.SHARED.touch(file, time);
    }
}
