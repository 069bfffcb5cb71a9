package dev.caravan.node;

import dev.caravan.shard.GpuDemand;
import dev.caravan.store.Disk;
import dev.caravan.store.Json;
import dev.caravan.store.Layout;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/** What nodes have said of themselves under a shared root. Some of them may be gone, others still to come. */
public final class KnownNodes {
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
