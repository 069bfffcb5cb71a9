package dev.caravan.sim;

import dev.caravan.shard.Claim;
import dev.caravan.shard.ClaimStatus;
import dev.caravan.store.Json;
import dev.caravan.store.Layout;
import dev.caravan.store.SharedDirectory;
import java.io.IOException;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.List;
import java.util.Optional;

/** Second attempts that end the claim beside which they stand, as if they were takeovers. */
final class EndingSpeculation implements SharedDirectory {
    private final SharedDirectory mount;

    EndingSpeculation(SharedDirectory mount) {
        this.mount = mount;
    }

    @Override
    public boolean publish(Path target, byte[] content) throws IOException {
        boolean made = mount.publish(target, content);
        Layout.Job job = new Layout.Job(target.getParent().getParent().getParent());
        if (made && job.speculative().equals(target.getParent())) {
            Claim second = Json.parse(content, Claim.class);
            Path first = job.lock(second.key(), second.epochOfShard());
            Optional<byte[]> known = mount.readIfPresent(first);
            if (known.isPresent()) {
                Claim claim = Json.parse(known.get(), Claim.class);
                if (claim.status() == ClaimStatus.RUNNING) {
                    mount.replace(first, Json.bytes(claim.ended(ClaimStatus.SUPERSEDED, null, "too slow")));
                }
            }
        }
        return made;
    }

    @Override
    public void replace(Path target, byte[] content) throws IOException {
        mount.replace(target, content);
    }

    @Override
    public Optional<byte[]> readIfPresent(Path file) throws IOException {
        return mount.readIfPresent(file);
    }

    @Override
    public boolean exists(Path file) {
        return mount.exists(file);
    }

    @Override
    public List<String> list(Path directory) throws IOException {
        return mount.list(directory);
    }

    @Override
    public FileTime lastModified(Path file) throws IOException {
        return mount.lastModified(file);
    }

    @Override
    public void touch(Path file, FileTime time) throws IOException {
        mount.touch(file, time);
    }
}
