package dev.caravan.status;

import com.fasterxml.jackson.databind.JsonNode;
import dev.caravan.store.Disk;
import dev.caravan.store.Json;
import dev.caravan.store.Layout;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** All jobs and nodes that one HTTP server tells of, as JSON text; read anew for each question. */
public final class ReadModel {
    private final Layout.@Nullable Root root;
    private final Layout.@Nullable Job job;
    private final Duration staleAfter;

    private ReadModel(Layout.@Nullable Root root, Layout.@Nullable Job job, Duration staleAfter) {
        this.root = root;
        this.job = job;
        this.staleAfter = staleAfter;
    }

    public static ReadModel ofRoot(Layout.Root root, Duration staleAfter) {
        return new ReadModel(root, null, staleAfter);
    }

    public static ReadModel ofJob(Layout.Job job, Duration staleAfter) {
        return new ReadModel(null, job, staleAfter);
    }

    /** Whether the shared directory can be read at this moment; throws if not. */
    public String ready() throws IOException {
        layouts();
        return "{\"status\":\"UP\"}";
    }

    public String jobs() throws IOException {
        List<JobStatus> all = new ArrayList<>();
        for (Layout.Job each : layouts()) {
            all.add(new StatusReader(each, staleAfter).read().withoutShardLines());
        }
        return Json.line(all);
    }

    public String job(String name) throws IOException {
        Optional<Layout.Job> found =
                layouts().stream().filter(each -> each.name().equals(name)).findFirst();
        return found.isEmpty()
                ? Json.line(new Unknown("there is no job " + name))
                : Json.line(new StatusReader(found.get(), staleAfter).read());
    }

    record Unknown(String error) {}

    public String nodes() throws IOException {
        List<JsonNode> nodes = new ArrayList<>();
        if (root != null) {
            for (String name : Disk.list(root.nodes())) {
                Optional<byte[]> fact = Layout.isHidden(name)
                        ? Optional.empty()
                        : Disk.readIfPresent(root.nodes().resolve(name));
                if (fact.isPresent()) {
                    nodes.add(Json.tree(fact.get()));
                }
            }
        }
        return Json.line(nodes);
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
