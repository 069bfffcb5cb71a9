package dev.caravan.sim;

import dev.caravan.store.SharedDirectory;
import java.io.IOException;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.List;
import java.util.Optional;

/** Between a node's code and its mount: tells the invariants what the code wants and what it was told. */
final class Witness implements SharedDirectory {
    private final SharedDirectory mount;
    private final SimNode node;
    private final Invariants invariants;

    Witness(SharedDirectory mount, SimNode node, Invariants invariants) {
        this.mount = mount;
        this.node = node;
        this.invariants = invariants;
    }

    @Override
    public boolean publish(Path target, byte[] content) throws IOException {
        invariants.wantsToPublish(node, target, content);
        boolean made = false;
        try {
            made = mount.publish(target, content);
            return made;
        } finally {
            invariants.wasTold(node, target, content, made);
        }
    }

    @Override
    public void replace(Path target, byte[] content) throws IOException {
        invariants.wantsToReplace(node, target, content);
        mount.replace(target, content);
    }

    @Override
    public Optional<byte[]> readIfPresent(Path file) throws IOException {
        return mount.readIfPresent(file);
    }

    @Override
    public boolean exists(Path file) {
        if (node.isBeating()) { // the first thing that a beat does
            invariants.beatsNow(node);
        }
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
        invariants.hasBeaten(node, file);
    }
}
