package dev.caravan.node;

import dev.caravan.exec.Gpus;
import dev.caravan.shard.NodeIdentity;
import dev.caravan.store.Disk;
import dev.caravan.store.Json;
import dev.caravan.store.Layout;
import dev.caravan.store.StoreException;
import java.io.IOException;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Tells people which nodes there are: a file per node that it rewrites at each heartbeat. No decision rests on it. */
public final class Presence {
    private static final Logger LOG = LoggerFactory.getLogger(Presence.class);

    private final Layout.Root root;
    private final NodeIdentity node;
    private final int slots;
    private final Gpus gpus;
    private final String startedAt = Instant.now().toString();
    private final AtomicLong beat = new AtomicLong();
    private volatile boolean silent;

    Presence(Layout.Root root, NodeIdentity node, int slots, Gpus gpus) {
        this.root = root;
        this.node = node;
        this.slots = slots;
        this.gpus = gpus;
    }

    record Fact(
            String id,
            String hostname,
            long pid,
            String startedAt,
            int slots,
            int gpus,
            List<String> gpuDevices,
            long beat,
            String seenAt) {

        Fact {
            gpuDevices = List.copyOf(gpuDevices);
        }
    }

    /** The next heartbeat reports again. */
    public void report() {
        try {
            write();
            silent = false;
        } catch (IOException | StoreException e) {
            if (!silent) {
                LOG.warn("node {} cannot show that it is there ({}); trying again", node.id(), e.toString());
            }
            silent = true;
        }
    }

    private void write() throws IOException {
        Disk.createDirectories(root.nodes());
        Disk.replace(
                root.node(node.id()),
                Json.bytes(new Fact(
                        node.id(),
                        node.hostname(),
                        node.pid(),
                        startedAt,
                        slots,
                        gpus.names().size(),
                        gpus.names(),
                        beat.incrementAndGet(),
                        Instant.now().toString())));
    }
}
