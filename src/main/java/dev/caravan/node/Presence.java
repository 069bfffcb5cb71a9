package dev.caravan.node;

import dev.caravan.exec.Gpus;
import dev.caravan.shard.NodeIdentity;
import dev.caravan.store.Disk;
import dev.caravan.store.Json;
import dev.caravan.store.Layout;
import java.io.IOException;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicLong;

/** Tells people which nodes there are: a file per node that it rewrites at each heartbeat. No decision rests on it. */
public final class Presence {
    private final Layout.Root root;
    private final NodeIdentity node;
    private final int slots;
    private final Gpus gpus;
    private final String startedAt = Instant.now().toString();
    private final AtomicLong beat = new AtomicLong();

    Presence(Layout.Root root, NodeIdentity node, int slots, Gpus gpus) {
        this.root = root;
        this.node = node;
        this.slots = slots;
        this.gpus = gpus;
    }

    record Fact(
            String id, String hostname, long pid, String startedAt, int slots, int gpus, long beat, String seenAt) {}

    public void report() throws IOException {
        Disk.createDirectories(root.nodes());
        Disk.replace(
                root.node(node.id()),
                Json.bytes(new Fact(
                        node.id(),
                        node.hostname(),
                        node.pid(),
                        startedAt,
                        slots,
                        gpus.count(),
                        beat.incrementAndGet(),
                        Instant.now().toString())));
    }
}
