package dev.caravan.node;

import dev.caravan.settings.Settings;
import dev.caravan.shard.GpuDemand;
import dev.caravan.store.Disk;
import dev.caravan.store.Json;
import dev.caravan.store.Layout;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What nodes have said of themselves under a shared root. Some of them may be gone, others still to come. */
public final class KnownNodes {
    private static final Logger LOG = LoggerFactory.getLogger(KnownNodes.class);

    /** Much longer than clocks differ, and nodes that were killed do not say that they left. */
    private static final Duration LATELY = Duration.ofMinutes(10);

    private final Layout.Root root;

    public KnownNodes(Layout.Root root) {
        this.root = root;
    }

    /** What the nodes have, if there are any and none has what a shard asks for. */
    public Optional<String> shortage(GpuDemand demand) throws IOException {
        List<Presence.Fact> nodes = read();
        boolean met = nodes.stream().anyMatch(node -> demand.isMetBy(node.gpus()));
        return met || nodes.isEmpty()
                ? Optional.empty()
                : Optional.of(nodes.stream()
                        .map(node -> node.id() + " has " + describe(node.gpuDevices()))
                        .collect(Collectors.joining(", ")));
    }

    /**
     * Slots that may work on a job: those of the nodes of its root that were there lately, and no fewer than this node's.
     * Only the number of shards rests on it, so wall clocks will do.
     */
    public static int slots(Layout.Job job, Settings settings) {
        int own = settings.integer("node.slots");
        try {
            Optional<Layout.Root> root = job.root();
            return root.isEmpty() ? own : Math.max(own, new KnownNodes(root.get()).slots());
        } catch (IOException e) {
            LOG.warn(
                    "cannot see which nodes there are ({}); the number of shards is chosen for this one", e.toString());
            return own;
        }
    }

    private int slots() throws IOException {
        List<Presence.Fact> here =
                read().stream().filter(node -> node.leftAt() == null).toList();
        Instant latest = here.stream()
                .map(node -> Instant.parse(node.seenAt()))
                .max(Comparator.naturalOrder())
                .orElse(Instant.EPOCH);
        return here.stream()
                .filter(node -> Instant.parse(node.seenAt()).isAfter(latest.minus(LATELY)))
                .mapToInt(Presence.Fact::slots)
                .sum();
    }

    static String describe(List<String> devices) {
        return devices.isEmpty() ? "none" : devices.size() + " (" + String.join(",", devices) + ")";
    }

    private List<Presence.Fact> read() throws IOException {
        List<Presence.Fact> nodes = new ArrayList<>();
        for (String name : Disk.list(root.nodes())) {
            if (!Layout.isHidden(name)) {
                Optional<byte[]> fact = Disk.readIfPresent(root.nodes().resolve(name));
                fact.flatMap(KnownNodes::parse).ifPresent(nodes::add);
            }
        }
        return nodes;
    }

    /** What is no node's fact is not this job's trouble. */
    private static Optional<Presence.Fact> parse(byte[] content) {
        try {
            return Optional.of(Json.parse(content, Presence.Fact.class));
        } catch (IOException foreign) {
            return Optional.empty();
        }
    }
}
