package dev.caravan.finalize;

import dev.caravan.shard.Checkpoint;
import dev.caravan.shard.Manifest;
import dev.caravan.store.CheckpointFolder;
import dev.caravan.store.Disk;
import dev.caravan.store.Layout;
import java.io.IOException;
import java.nio.file.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Removes the checkpoint of a job that is merged, where the job asks for it. */
final class CheckpointRemoval {
    private static final Logger LOG = LoggerFactory.getLogger(CheckpointRemoval.class);

    private CheckpointRemoval() {}

    /** The merge counts whether or not this succeeds. */
    static void afterMerge(Layout.Job job, Manifest manifest) {
        Checkpoint checkpoint = manifest.execution().checkpoint();
        if (checkpoint == null || !checkpoint.deleteOnSuccess()) {
            return;
        }
        try {
            if (checkpoint.path() == null) {
                Disk.deleteTree(job.checkpoints());
                return;
            }
            CheckpointFolder folder = new CheckpointFolder(Path.of(checkpoint.path()));
            for (Manifest.Shard shard : manifest.shards()) {
                Disk.deleteTree(folder.shard(shard.id(), shard.sha256()));
            }
            Disk.deleteIfEmpty(folder.path());
        } catch (IOException e) {
            LOG.warn("job {}: its checkpoint could not be removed ({}): remove it by hand", job.name(), e.toString());
        }
    }
}
