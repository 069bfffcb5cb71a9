package dev.caravan.sim;

import dev.caravan.shard.Claim;
import dev.caravan.store.Json;
import dev.caravan.store.SharedDirectory;
import java.io.IOException;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Locks as they are often made: one name for each shard, deleted and made again at takeover. The code above still thinks
 * in epochs, which are read from the content.
 */
final class ReusedLockNames implements SharedDirectory {
    private static final String SUFFIX = ".lock";

    private final SharedDirectory mount;
    private final ModelDirectory server;
    private final int client;

    ReusedLockNames(SharedDirectory mount, ModelDirectory server, int client) {
        this.mount = mount;
        this.server = server;
        this.client = client;
    }

    private static boolean isLock(Path file) {
        return file.getFileName().toString().endsWith(SUFFIX);
    }

    /** {@code <key>.<epoch>.lock} without its epoch. */
    private static Path reused(Path lock) {
        String name = lock.getFileName().toString();
        int dot = name.lastIndexOf('.', name.length() - SUFFIX.length() - 1);
        return lock.resolveSibling(name.substring(0, dot) + SUFFIX);
    }

    private static long epochOf(Path lock) {
        String name = lock.getFileName().toString();
        int dot = name.lastIndexOf('.', name.length() - SUFFIX.length() - 1);
        return Long.parseLong(name.substring(dot + 1, name.length() - SUFFIX.length()));
    }

    private Optional<Claim> read(Path lock) throws IOException {
        Optional<byte[]> content = mount.readIfPresent(lock);
        return content.isEmpty() ? Optional.empty() : Optional.of(Json.parse(content.get(), Claim.class));
    }

    @Override
    public boolean publish(Path target, byte[] content) throws IOException {
        if (!isLock(target)) {
            return mount.publish(target, content);
        }
        if (epochOf(target) > 1 && mount.exists(reused(target))) {
            server.remove(client, reused(target)); // the race: somebody may have made it anew a moment ago
        }
        return mount.publish(reused(target), content);
    }

    @Override
    public void replace(Path target, byte[] content) throws IOException {
        mount.replace(isLock(target) ? reused(target) : target, content);
    }

    @Override
    public Optional<byte[]> readIfPresent(Path file) throws IOException {
        if (!isLock(file)) {
            return mount.readIfPresent(file);
        }
        Optional<byte[]> content = mount.readIfPresent(reused(file));
        return content.isPresent() && Json.parse(content.get(), Claim.class).epoch() == epochOf(file)
                ? content
                : Optional.empty();
    }

    @Override
    public boolean exists(Path file) {
        if (!isLock(file)) {
            return mount.exists(file);
        }
        try {
            return read(reused(file))
                    .filter(claim -> claim.epoch() >= epochOf(file))
                    .isPresent();
        } catch (IOException e) {
            return false;
        }
    }

    @Override
    public List<String> list(Path directory) throws IOException {
        List<String> names = new ArrayList<>();
        for (String name : mount.list(directory)) {
            Path file = directory.resolve(name);
            if (name.startsWith(".") || !isLock(file)) {
                names.add(name);
            } else {
                read(file).ifPresent(claim -> names.add(claim.key() + "." + claim.epoch() + SUFFIX));
            }
        }
        return names;
    }

    @Override
    public FileTime lastModified(Path file) throws IOException {
        return mount.lastModified(isLock(file) ? reused(file) : file);
    }

    @Override
    public void touch(Path file, FileTime time) throws IOException {
        mount.touch(isLock(file) ? reused(file) : file, time);
    }
}
