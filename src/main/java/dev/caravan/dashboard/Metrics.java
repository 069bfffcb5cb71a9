package dev.caravan.dashboard;

import com.fasterxml.jackson.databind.JsonNode;
import dev.caravan.status.EventCounts;
import dev.caravan.status.JobStatus;
import dev.caravan.status.ReadModel;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Figures in the text format of Prometheus. Only jobs that have not ended have series of their own, so that there are
 * never more than are being worked on; shards, nodes and messages are no labels.
 */
final class Metrics {
    private final ReadModel model;
    private final EventCounts events;

    Metrics(ReadModel model, EventCounts events) {
        this.model = model;
        this.events = events;
    }

    String text() throws IOException {
        StringBuilder text = new StringBuilder();
        List<JobStatus> jobs = model.jobs();
        jobs(text, jobs);
        List<JobStatus> open = jobs.stream().filter(job -> !job.state().ended()).toList();
        head(text, "caravan_job_shards", "gauge", "Shards of a job that has not ended, by state.");
        for (JobStatus job : open) {
            JobStatus.ShardCounts shards = job.shards();
            shards(text, job, "pending", shards.pending());
            shards(text, job, "running", shards.running());
            shards(text, job, "stale", shards.stale());
            shards(text, job, "done", shards.done());
            shards(text, job, "failed", shards.failed());
        }
        head(text, "caravan_job_rows", "gauge", "Records of the input of a job that has not ended.");
        open.forEach(job -> line(
                text, "caravan_job_rows", Map.of("job", job.job()), job.rows().total()));
        head(text, "caravan_job_rows_done", "gauge", "Records of the finished shards of such a job.");
        open.forEach(job -> line(
                text,
                "caravan_job_rows_done",
                Map.of("job", job.job()),
                job.rows().done()));
        nodes(text, model.nodes());
        head(text, "caravan_events_total", "counter", "What happened on this node since it started.");
        for (EventCounts.Kind kind : EventCounts.Kind.values()) {
            line(text, "caravan_events_total", Map.of("event", kind.toString()), events.of(kind));
        }
        return text.toString();
    }

    private static void jobs(StringBuilder text, List<JobStatus> jobs) {
        head(text, "caravan_jobs", "gauge", "Jobs under the root, by state.");
        for (JobStatus.State state : JobStatus.State.values()) {
            long count = jobs.stream().filter(job -> job.state() == state).count();
            line(text, "caravan_jobs", Map.of("state", state.toString()), count);
        }
    }

    private static void nodes(StringBuilder text, List<JsonNode> nodes) {
        head(text, "caravan_nodes", "gauge", "Nodes that have shown themselves under the root, by state.");
        for (String state : List.of("live", "late", "left")) {
            long count = nodes.stream()
                    .filter(node -> state.equals(node.path("state").asText()))
                    .count();
            line(text, "caravan_nodes", Map.of("state", state), count);
        }
        head(text, "caravan_slots", "gauge", "Slots of live nodes: all, and those that work.");
        List<JsonNode> live = nodes.stream()
                .filter(node -> node.path("state").asText().equals("live"))
                .toList();
        line(text, "caravan_slots", Map.of("of", "all"), sum(live, "slots"));
        line(text, "caravan_slots", Map.of("of", "running"), sum(live, "running"));
    }

    private static long sum(List<JsonNode> nodes, String field) {
        return nodes.stream().mapToLong(node -> node.path(field).asLong()).sum();
    }

    private static void shards(StringBuilder text, JobStatus job, String state, int count) {
        Map<String, String> labels = new LinkedHashMap<>();
        labels.put("job", job.job());
        labels.put("state", state);
        line(text, "caravan_job_shards", labels, count);
    }

    private static void head(StringBuilder text, String name, String type, String help) {
        text.append(String.format(Locale.ROOT, "# HELP %s %s%n# TYPE %s %s%n", name, help, name, type));
    }

    private static void line(StringBuilder text, String name, Map<String, String> labels, long value) {
        text.append(name).append('{');
        String comma = "";
        for (Map.Entry<String, String> label : labels.entrySet()) {
            text.append(comma)
                    .append(label.getKey())
                    .append("=\"")
                    .append(escaped(label.getValue()))
                    .append('"');
            comma = ",";
        }
        text.append("} ").append(value).append('\n');
    }

    private static String escaped(String value) {
        return value.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n");
    }
}
