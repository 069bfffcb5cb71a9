package dev.caravan.exec;

import dev.caravan.jsonl.Sha256;
import dev.caravan.lease.ClaimedShard;
import dev.caravan.shard.FailureClass;
import dev.caravan.shard.Manifest;
import dev.caravan.store.Disk;
import dev.caravan.store.LocalFolder;
import dev.caravan.store.ShardBytes;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Path;
import java.security.DigestOutputStream;
import java.util.HexFormat;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Gives each attempt its input as a file: the shard's own, or one cut out of the job's input on this node's disk. With a
 * checkpoint the child makes that file, since only it knows which part is done.
 */
public final class ShardInputs implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(ShardInputs.class);

    private static final int BUFFER = 1 << 18;

    private final Path parent;
    private final long minFree;
    private @Nullable LocalFolder folder;

    /**
     * @param parent folder on a disk of this node
     * @param minFree bytes of that disk that are left to others when a shard is cut out before its turn
     */
    public ShardInputs(Path parent, long minFree) {
        this.parent = parent;
        this.minFree = minFree;
    }

    /** A file that is there until it is closed. */
    record Input(Path file, @Nullable Path cut) implements AutoCloseable {
        @Override
        public void close() {
            if (cut == null) {
                return;
            }
            try {
                Disk.deleteTree(cut);
            } catch (IOException e) {
                LOG.warn("could not remove {} ({}); it goes when the node leaves", cut, e.toString());
            }
        }
    }

    /** Whether the shard may be cut out before its turn: nothing that runs is to find the disk full for it. */
    boolean haveRoomFor(ClaimedShard shard) throws IOException {
        return shard.shard().path() != null
                || folder().freeBytes() - shard.shard().bytes() >= minFree;
    }

    /**
     * @param check throws if the input is not wanted any more
     * @throws AttemptFailed of class data if the input is not what was prepared any more
     * @throws IOException if it cannot be read, or this node's disk cannot take it
     */
    Input take(ClaimedShard shard, Runnable check) throws IOException {
        String own = shard.shard().path();
        if (own != null) {
            return new Input(shard.job().layout().resolve(own), null);
        }
        Path cut = folder().newFolder(shard.lease().claim().token());
        Input input = new Input(cut.resolve(shard.shard().id() + ".jsonl"), cut);
        try {
            if (shard.manifest().execution().checkpoint() == null) {
                cut(shard, input.file(), check);
            }
            return input;
        } catch (IOException | RuntimeException e) {
            input.close();
            throw e;
        }
    }

    private static void cut(ClaimedShard shard, Path file, Runnable check) throws IOException {
        Manifest.Shard planned = shard.shard();
        try (InputStream in = ShardBytes.open(shard.job().layout(), planned);
                OutputStream plain = LocalFolder.write(file);
                DigestOutputStream out = new DigestOutputStream(plain, Sha256.digest())) {
            long bytes = 0;
            byte[] buffer = new byte[BUFFER];
            for (int read; (read = in.read(buffer)) >= 0; bytes += read) {
                check.run();
                out.write(buffer, 0, read);
            }
            String found = HexFormat.of().formatHex(out.getMessageDigest().digest());
            if (!found.equals(planned.sha256())) {
                throw new AttemptFailed(
                        FailureClass.DATA,
                        "the input was changed after the job was prepared: expected " + planned.bytes()
                                + " bytes, sha256 " + planned.sha256() + ", found " + bytes + " bytes, sha256 " + found
                                + " in " + places(planned)
                                + "; restore the input and run 'caravan retry', or prepare a new job");
            }
        }
    }

    private static String places(Manifest.Shard shard) {
        return shard.ranges().stream()
                .map(range ->
                        range.file() + " (bytes " + range.offset() + " to " + (range.offset() + range.length()) + ")")
                .collect(Collectors.joining(", "));
    }

    private synchronized LocalFolder folder() throws IOException {
        if (folder == null) {
            folder = LocalFolder.in(parent);
        }
        return folder;
    }

    @Override
    public synchronized void close() {
        if (folder != null) {
            folder.close();
        }
    }
}
