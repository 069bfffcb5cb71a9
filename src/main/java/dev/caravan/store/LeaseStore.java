package dev.caravan.store;

import dev.caravan.shard.Claim;
import java.io.IOException;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * Claims as files {@code <key>.<epoch>.lock} of one directory. A name is made at most once and never removed, so a late
 * removal or a cached "not there" cannot revive an old claim.
 */
public final class LeaseStore {
    private static final String SUFFIX = Layout.LOCK_SUFFIX;

    private final SharedDirectory shared;
    private final Path directory;

    public LeaseStore(Path directory) {
        this(Disk.SHARED, directory);
    }

    public LeaseStore(SharedDirectory shared, Path directory) {
        this.shared = shared;
        this.directory = directory;
    }

    private Path file(String key, long epoch) {
        return directory.resolve(Layout.lockName(key, epoch));
    }

    /** The highest epoch of each key, by one listing. */
    public Map<String, Long> highestEpochs() throws IOException {
        Map<String, Long> highest = new HashMap<>();
        for (String name : shared.list(directory)) {
            if (Layout.isHidden(name) || !name.endsWith(SUFFIX)) {
                continue;
            }
            int dot = name.lastIndexOf('.', name.length() - SUFFIX.length() - 1);
            try {
                highest.merge(
                        name.substring(0, dot),
                        Long.parseLong(name.substring(dot + 1, name.length() - SUFFIX.length())),
                        Math::max);
            } catch (NumberFormatException | StringIndexOutOfBoundsException foreign) {
                throw new StoreException("not a lock file: " + directory.resolve(name)
                        + " (expected <key>.<epoch>.lock): remove what does not belong there");
            }
        }
        return highest;
    }

    /** @return whether this claim won its epoch */
    public boolean create(Claim claim) throws IOException {
        return shared.publish(file(claim.key(), claim.epoch()), Json.bytes(claim));
    }

    /** What an observer sees of a claim at one moment; a file without its content yet has no claim. */
    public record Sight(Optional<Claim> claim, FileTime beat) {}

    /** Opens the file anew, which makes network mounts check what they have cached. */
    public Optional<Sight> look(String key, long epoch) throws IOException {
        Path file = file(key, epoch);
        Optional<byte[]> content = shared.readIfPresent(file);
        if (content.isEmpty()) {
            return Optional.empty();
        }
        Optional<Claim> claim;
        try {
            claim = Optional.ofNullable(Json.parse(content.get(), Claim.class));
        } catch (IOException | IllegalArgumentException torn) {
            claim = Optional.empty();
        }
        return Optional.of(new Sight(claim, shared.lastModified(file)));
    }

    public boolean exists(String key, long epoch) {
        return shared.exists(file(key, epoch));
    }

    /**
     * Shows that the owner lives, by setting the file's time. Observers look for change only, so what the time says does
     * not matter; it must differ from the last.
     */
    public void beat(Claim claim, FileTime time) throws IOException {
        shared.touch(file(claim.key(), claim.epoch()), time);
    }

    /** The owner ends its claim. */
    public void end(Claim ended) throws IOException {
        shared.replace(file(ended.key(), ended.epoch()), Json.bytes(ended));
    }
}
