package dev.caravan.status;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import java.util.Locale;

/** All jobs and nodes of a root as text for people. */
public final class OverviewText {
    private OverviewText() {}

    /** @param nodes as {@link ReadModel#nodes} tells them; those that have left are not shown */
    public static String of(List<JobStatus> jobs, List<JsonNode> nodes) {
        StringBuilder text = new StringBuilder();
        line(text, "%-32s %-10s %15s %10s %s", "job", "state", "shards done", "failed", "pace");
        for (JobStatus job : jobs) {
            String done = job.shards().done() + " of " + job.shards().total();
            JobStatus.Pace pace = job.pace();
            String how = pace == null
                    ? ""
                    : String.format(Locale.ROOT, "%.1f rows/s, ETA %d s", pace.rowsPerSecond(), pace.etaSeconds());
            line(
                    text,
                    "%-32s %-10s %15s %10d %s",
                    job.job(),
                    job.state(),
                    done,
                    job.shards().failed(),
                    how);
        }
        line(text, "%n%-32s %-10s %15s %10s %s", "node", "state", "slots running", "GPUs", "note");
        for (JsonNode node : nodes) {
            String state = node.path("state").asText();
            if (!state.equals("left")) {
                String slots = node.path("running").asInt() + " of "
                        + node.path("slots").asInt();
                String note =
                        node.path("trouble").isTextual() ? node.path("trouble").asText() : "";
                line(
                        text,
                        "%-32s %-10s %15s %10d %s",
                        node.path("id").asText(),
                        state,
                        slots,
                        node.path("gpus").asInt(),
                        note);
            }
        }
        return text.toString();
    }

    private static void line(StringBuilder text, String format, Object... values) {
        text.append(String.format(Locale.ROOT, format, values).stripTrailing()).append('\n');
    }
}
