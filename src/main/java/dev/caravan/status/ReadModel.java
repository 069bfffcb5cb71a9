package dev.caravan.status;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.caravan.store.Disk;
import dev.caravan.store.JobFiles;
import dev.caravan.store.Json;
import dev.caravan.store.Layout;
import dev.caravan.store.StoreException;
import java.io.IOException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** All jobs and nodes of a shared root, or the one job of a node without a root; read from the directory when asked. */
public final class ReadModel {
    private static final int BEATS_UNTIL_LATE = 3;

    private final Layout.@Nullable Root root;
    private final Layout.@Nullable Job job;
    private final Duration staleAfter;
    private final Clock clock;
    private final Map<Layout.Job, StatusReader> readers = new ConcurrentHashMap<>();

    private ReadModel(Layout.@Nullable Root root, Layout.@Nullable Job job, Duration staleAfter, Clock clock) {
        this.root = root;
        this.job = job;
        this.staleAfter = staleAfter;
        this.clock = clock;
    }

    public static ReadModel ofRoot(Layout.Root root, Duration staleAfter, Clock clock) {
        return new ReadModel(root, null, staleAfter, clock);
    }

    public static ReadModel ofJob(Layout.Job job, Duration staleAfter, Clock clock) {
        return new ReadModel(null, job, staleAfter, clock);
    }

    /** Whether the shared directory can be read at this moment; throws if not. */
    public String ready() throws IOException {
        layouts();
        return "{\"status\":\"UP\"}";
    }

    public List<JobStatus> jobs() throws IOException {
        List<JobStatus> all = new ArrayList<>();
        for (Layout.Job each : layouts()) {
            all.add(summary(each));
        }
        return all;
    }

    /** One job that cannot be read does not hide the others. */
    private JobStatus summary(Layout.Job of) throws IOException {
        try {
            return status(of).withoutShardLines();
        } catch (StoreException e) {
            return JobStatus.unreadable(of.name(), of.path().toString(), String.valueOf(e.getMessage()));
        }
    }

    public Optional<JobFiles> job(String name) throws IOException {
        return layouts().stream()
                .filter(each -> each.name().equals(name))
                .findFirst()
                .map(JobFiles::new);
    }

    public JobStatus status(JobFiles of) throws IOException {
        return status(of.layout());
    }

    public JobFigures figures(JobFiles of) throws IOException {
        StatusReader reader = reader(of.layout());
        synchronized (reader) {
            reader.read();
            return FiguresReader.of(of, reader.done());
        }
    }

    private JobStatus status(Layout.Job of) throws IOException {
        StatusReader reader = reader(of);
        synchronized (reader) {
            return reader.read();
        }
    }

    private StatusReader reader(Layout.Job of) {
        return readers.computeIfAbsent(of, each -> new StatusReader(each, staleAfter));
    }

    /** What nodes tell of themselves, and {@code state}: live, late (no beat for a while, by this machine's clock), left. */
    public List<JsonNode> nodes() throws IOException {
        List<JsonNode> nodes = new ArrayList<>();
        for (String name : root == null ? List.<String>of() : Disk.list(root.nodes())) {
            Optional<byte[]> fact = Layout.isHidden(name)
                    ? Optional.empty()
                    : Disk.readIfPresent(root.nodes().resolve(name));
            if (fact.isPresent() && Json.tree(fact.get()) instanceof ObjectNode node) {
                nodes.add(judged(node));
            }
        }
        return nodes;
    }

    /** What keeps live nodes from working, a line each. */
    public List<String> troubles() throws IOException {
        return nodes().stream()
                .filter(node -> !node.path("state").asText().equals("left"))
                .filter(node -> node.path("trouble").isTextual())
                .map(node ->
                        node.path("id").asText() + " " + node.path("trouble").asText())
                .toList();
    }

    private ObjectNode judged(ObjectNode node) {
        long age = Math.max(0, clock.millis() - millis(node.path("seen_at").asText()));
        long patience =
                BEATS_UNTIL_LATE * Math.max(1, node.path("heartbeat_millis").asLong(10_000));
        String state =
                !node.path("left_at").isMissingNode() && !node.path("left_at").isNull()
                        ? "left"
                        : age > patience ? "late" : "live";
        return node.put("age_millis", age).put("state", state);
    }

    private static long millis(String time) {
        try {
            return Instant.parse(time).toEpochMilli();
        } catch (DateTimeParseException unknown) {
            return 0;
        }
    }

    /** The file by which a known node is told to leave. */
    public Optional<NodeDrain> drain(String nodeId) throws IOException {
        return root != null
                        && nodes().stream()
                                .anyMatch(node -> nodeId.equals(node.path("id").asText()))
                ? Optional.of(new NodeDrain(root, nodeId))
                : Optional.empty();
    }

    private List<Layout.Job> layouts() throws IOException {
        if (root == null) {
            return job == null ? List.of() : List.of(job);
        }
        TreeSet<String> names = new TreeSet<>();
        for (String name : Disk.list(root.jobs())) {
            String accepted = Layout.Job.ofCoordination(name);
            if (accepted != null) {
                names.add(accepted);
            }
        }
        return names.stream().map(root::job).toList();
    }
}
