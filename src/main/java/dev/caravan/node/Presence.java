package dev.caravan.node;

import dev.caravan.shard.NodeIdentity;
import dev.caravan.status.NodeDrain;
import dev.caravan.store.Disk;
import dev.caravan.store.Json;
import dev.caravan.store.Layout;
import dev.caravan.store.StoreException;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells people which nodes there are: a file per node that it rewrites at each heartbeat. No decision rests on it. At
 * the same moment it looks whether somebody wants the node to leave.
 */
public final class Presence {
    private static final Logger LOG = LoggerFactory.getLogger(Presence.class);

    private final Layout.Root root;
    private final NodeIdentity node;
    private final Size size;
    private final Supplier<Condition> condition;
    private final Consumer<String> leave;
    private final NodeDrain drain;
    private final String startedAt = Instant.now().toString();
    private final AtomicLong beat = new AtomicLong();
    private volatile boolean silent;

    Presence(Layout.Root root, NodeIdentity node, Size size, Supplier<Condition> condition, Consumer<String> leave) {
        this.root = root;
        this.node = node;
        this.size = size;
        this.condition = condition;
        this.leave = leave;
        this.drain = new NodeDrain(root, node.id());
    }

    /** What does not change while the node lives. */
    record Size(int slots, List<String> gpus, Duration heartbeat) {
        Size {
            gpus = List.copyOf(gpus);
        }
    }

    /** @param trouble why it claims nothing */
    record Condition(int running, boolean leaving, @Nullable String trouble) {}

    record Fact(
            String id,
            String hostname,
            long pid,
            String startedAt,
            int slots,
            int gpus,
            List<String> gpuDevices,
            long heartbeatMillis,
            int running,
            int cpus,
            double load,
            boolean leaving,
            @Nullable String trouble,
            long beat,
            String seenAt,
            @Nullable String leftAt) {

        Fact {
            gpuDevices = List.copyOf(gpuDevices);
        }
    }

    /** The next heartbeat reports again. */
    public void report() {
        try {
            if (beat.get() == 0) {
                Disk.createDirectories(root.nodes());
                drain.forget(); // asked of an earlier node of this name
            }
            write(null);
            if (drain.isAsked()) {
                leave.accept("it was asked to drain");
            }
            silent = false;
        } catch (IOException | StoreException e) {
            if (!silent) {
                LOG.warn("node {} cannot show that it is there ({}); trying again", node.id(), e.toString());
            }
            silent = true;
        }
    }

    /** The last word. */
    void left() {
        try {
            write(Instant.now().toString());
            drain.forget();
        } catch (IOException | StoreException e) {
            LOG.warn("node {} cannot show that it has left ({})", node.id(), e.toString());
        }
    }

    private void write(@Nullable String leftAt) throws IOException {
        Condition now = condition.get();
        Disk.replace(
                root.node(node.id()),
                Json.bytes(new Fact(
                        node.id(),
                        node.hostname(),
                        node.pid(),
                        startedAt,
                        size.slots(),
                        size.gpus().size(),
                        size.gpus(),
                        size.heartbeat().toMillis(),
                        now.running(),
                        Runtime.getRuntime().availableProcessors(),
                        ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage(),
                        now.leaving(),
                        now.trouble(),
                        beat.incrementAndGet(),
                        Instant.now().toString(),
                        leftAt)));
    }
}
