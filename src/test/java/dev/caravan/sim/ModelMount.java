package dev.caravan.sim;

import dev.caravan.store.SharedDirectory;
import dev.caravan.store.StoreException;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * One client's mount of a {@link ModelDirectory}, with the steps of {@link dev.caravan.store.Disk} and the caches of a
 * network file system: a name looked for in vain stays absent for a while, a listing is shown again, a file's time is
 * remembered until the file is opened. Not thread-safe beyond what strict turns need.
 */
final class ModelMount implements SharedDirectory {
    private final ModelDirectory server;
    private final int client;
    private final Network network;
    private final Map<Path, Long> absentUntil = new HashMap<>();
    private final Map<Path, Cached<List<String>>> listings = new HashMap<>();
    private final Map<Path, Cached<FileTime>> times = new HashMap<>();
    private long numbers;

    private record Cached<T>(T value, long until) {}

    ModelMount(ModelDirectory server, int client, Network network) {
        this.server = server;
        this.client = client;
        this.network = network;
    }

    @Override
    public boolean publish(Path target, byte[] content) throws IOException {
        Path temporary = write(target, content);
        try {
            network.ask(Op.LINK, target);
            boolean made = server.link(client, target, content);
            forget(target);
            if (network.answer(Op.LINK, target) == Network.Answer.ASKED_AGAIN || !made) {
                return readIfPresent(target)
                        .map(found -> Arrays.equals(found, content))
                        .orElse(false);
            }
            return true;
        } finally {
            remove(temporary);
        }
    }

    @Override
    public void replace(Path target, byte[] content) throws IOException {
        Path temporary = write(target, content);
        try {
            network.ask(Op.RENAME, target);
            server.remove(client, temporary);
            server.replace(client, target, content);
            forget(target);
            network.answer(Op.RENAME, target);
        } finally {
            remove(temporary);
        }
    }

    private Path write(Path target, byte[] content) throws IOException {
        Path temporary = target.resolveSibling(".tmp-" + client + "-" + nextNumber());
        network.ask(Op.WRITE, temporary);
        if (!server.hasDirectory(temporary.getParent())) {
            throw new NoSuchFileException(temporary.toString());
        }
        server.link(client, temporary, content);
        forget(temporary);
        network.answer(Op.WRITE, temporary);
        return temporary;
    }

    private synchronized long nextNumber() {
        return numbers++;
    }

    private void remove(Path temporary) throws IOException {
        network.ask(Op.REMOVE, temporary);
        server.remove(client, temporary);
        forget(temporary);
        network.answer(Op.REMOVE, temporary);
    }

    @Override
    public Optional<byte[]> readIfPresent(Path file) throws IOException {
        network.ask(Op.READ, file);
        ModelDirectory.Inode inode = lookUp(file);
        if (inode == null) {
            network.answer(Op.READ, file);
            return Optional.empty();
        }
        remember(file, inode);
        network.answer(Op.READ, file);
        return Optional.of(inode.content());
    }

    @Override
    public boolean exists(Path file) {
        try {
            network.ask(Op.STAT, file);
            boolean exists = lookUp(file) != null;
            network.answer(Op.STAT, file);
            return exists;
        } catch (IOException e) {
            throw new StoreException("cannot tell whether there is " + file, e);
        }
    }

    @Override
    public List<String> list(Path directory) throws IOException {
        network.ask(Op.LIST, directory);
        List<String> names = listing(directory);
        network.answer(Op.LIST, directory);
        return names;
    }

    @Override
    public FileTime lastModified(Path file) throws IOException {
        network.ask(Op.STAT, file);
        FileTime time = cachedTime(file);
        if (time == null) {
            ModelDirectory.Inode inode = lookUp(file);
            if (inode == null) {
                throw new NoSuchFileException(file.toString());
            }
            time = remember(file, inode);
        }
        network.answer(Op.STAT, file);
        return time;
    }

    @Override
    public void touch(Path file, FileTime time) throws IOException {
        network.ask(Op.TOUCH, file);
        if (!server.touch(client, file, time)) {
            throw new NoSuchFileException(file.toString());
        }
        forget(file);
        network.answer(Op.TOUCH, file);
    }

    private synchronized ModelDirectory.@Nullable Inode lookUp(Path file) {
        Long until = absentUntil.get(file);
        if (until != null && server.now() < until) {
            return null;
        }
        absentUntil.remove(file);
        ModelDirectory.Inode inode = server.seen(client, file);
        if (inode == null) {
            long memory = draw(server.lateness().absence(), file);
            if (memory > 0) {
                absentUntil.put(file, server.now() + memory);
            }
        }
        return inode;
    }

    private synchronized List<String> listing(Path directory) {
        Cached<List<String>> cached = listings.get(directory);
        if (cached == null || server.now() >= cached.until()) {
            cached = new Cached<>(
                    server.namesSeen(client, directory),
                    server.now() + draw(server.lateness().listings(), directory));
            listings.put(directory, cached);
        }
        return cached.value();
    }

    private synchronized @Nullable FileTime cachedTime(Path file) {
        Cached<FileTime> cached = times.get(file);
        return cached != null && server.now() < cached.until() ? cached.value() : null;
    }

    private synchronized FileTime remember(Path file, ModelDirectory.Inode inode) {
        FileTime time = server.timeSeen(client, inode);
        long memory = draw(server.lateness().attributes(), file);
        if (memory > 0) {
            times.put(file, new Cached<>(time, server.now() + memory));
        } else {
            times.remove(file);
        }
        return time;
    }

    /** What this client has changed itself it knows at once. */
    private synchronized void forget(Path file) {
        absentUntil.remove(file);
        times.remove(file);
        listings.remove(file.getParent());
    }

    private long draw(Duration atMost, Path what) {
        return server.lateness().draw(atMost, what.hashCode() * 31L + server.now() * 64 + client);
    }
}
