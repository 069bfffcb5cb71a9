package dev.caravan.node;

import dev.caravan.store.Space;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Whether the shared directory has room for more work. Thread-safe. */
final class DiskGuard {
    private static final Logger LOG = LoggerFactory.getLogger(DiskGuard.class);

    private final Path directory;
    private final long least;
    private volatile @Nullable String trouble;

    /** @param least bytes that are to stay free */
    DiskGuard(Path directory, long least) {
        this.directory = directory;
        this.least = least;
    }

    void look() throws IOException {
        long free = Space.freeBytes(directory);
        boolean low = free < least;
        if (low != (trouble != null)) {
            LOG.warn(
                    "{}: {} MiB free, node.min_free is {} MiB: {}",
                    directory,
                    free >> 20,
                    least >> 20,
                    low ? "no shard is claimed until there is room again" : "shards are claimed again");
        }
        trouble = low
                ? String.format(Locale.ROOT, "claims no shard: %d MiB free, less than node.min_free", free >> 20)
                : null;
    }

    /** What people are told while the room is low. */
    @Nullable
    String trouble() {
        return trouble;
    }
}
