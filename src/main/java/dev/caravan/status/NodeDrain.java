package dev.caravan.status;

import dev.caravan.store.Disk;
import dev.caravan.store.Layout;
import java.io.IOException;

/** Tells a node to leave, by a file that it looks for at each heartbeat. */
public record NodeDrain(Layout.Root root, String nodeId) {
    public void ask() throws IOException {
        Disk.publish(root.drain(nodeId), new byte[0]);
    }

    public boolean isAsked() {
        return Disk.exists(root.drain(nodeId));
    }

    public void forget() throws IOException {
        Disk.deleteIfPresent(root.drain(nodeId));
    }
}
