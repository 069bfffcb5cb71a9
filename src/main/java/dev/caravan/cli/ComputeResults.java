package dev.caravan.cli;

import com.fasterxml.jackson.databind.JsonNode;
import dev.caravan.store.Disk;
import dev.caravan.store.Json;
import dev.caravan.store.Layout;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/**
 * What has become of the items of a run.
 *
 * @param skipped items that an earlier run has done
 */
record ComputeResults(long ok, long fail, long cancelled, long skipped) {
    /** What {@code caravan compute} prints of them. */
    enum Form {
        ndjson,
        summary,
        quiet
    }

    static final ComputeResults NONE = new ComputeResults(0, 0, 0, 0);

    /** Reads what was collected of the job, and prints it on the way. */
    static ComputeResults of(Layout.Job job, Form form, PrintStream out) throws IOException {
        long ok = 0;
        long fail = 0;
        long cancelled = 0;
        try (BufferedReader rows =
                new BufferedReader(new InputStreamReader(Disk.open(job.sinkRows()), StandardCharsets.UTF_8))) {
            for (String row = rows.readLine(); row != null; row = rows.readLine()) {
                JsonNode kind = Json.tree(row.getBytes(StandardCharsets.UTF_8)).path("error_kind");
                if (kind.isMissingNode()) {
                    ok++;
                } else if (kind.asText().equals("cancelled")) {
                    cancelled++;
                } else {
                    fail++;
                }
                if (form == Form.ndjson) {
                    out.println(row);
                }
            }
        }
        Optional<byte[]> counts = Disk.readIfPresent(job.planCounts());
        long skipped =
                counts.isEmpty() ? 0 : Json.tree(counts.get()).path("skipped").asLong();
        return new ComputeResults(ok, fail, cancelled, skipped);
    }

    boolean allWell() {
        return fail + cancelled == 0;
    }

    @Override
    public String toString() {
        return ok + " ok, " + fail + " failed, " + cancelled + " cancelled, " + skipped + " skipped";
    }
}
