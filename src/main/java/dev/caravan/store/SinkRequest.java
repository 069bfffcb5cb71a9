package dev.caravan.store;

import dev.caravan.shard.DoneRecord;
import dev.caravan.shard.Manifest;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What of a job goes to its sink, as {@code caravan_runner collect} reads it.
 *
 * @param rows where it says what has become of each item
 * @param cancelled whether items of which nothing is known are cancelled; else they are left out
 */
public record SinkRequest(String sink, String plan, String counts, String rows, boolean cancelled, List<Shard> shards) {

    /**
     * @param output of a shard that is done, null for any other
     * @param failed of a shard that is done and has failed items
     * @param checkpoints what is known of a shard that is not done
     */
    public record Shard(
            long rows, @Nullable String output, @Nullable String failed, String checkpoints) {}

    public SinkRequest {
        shards = List.copyOf(shards);
    }

    /** @return the file of the request */
    public static Path write(JobFiles job, Path sink, boolean cancelled) throws IOException {
        Layout.Job layout = job.layout();
        List<Shard> shards = new ArrayList<>();
        for (Manifest.Shard shard : job.manifest().shards()) {
            Optional<DoneRecord> done = job.done(shard.id());
            shards.add(new Shard(
                    shard.rows(),
                    done.map(DoneRecord::outputPath)
                            .map(path -> layout.resolve(path).toString())
                            .orElse(null),
                    done.map(DoneRecord::failures)
                            .map(failures -> layout.resolve(failures.path()).toString())
                            .orElse(null),
                    layout.checkpoints(shard.id()).toString()));
        }
        Disk.replace(
                layout.sinkRequest(),
                Json.bytes(new SinkRequest(
                        sink.toString(),
                        layout.plan().toString(),
                        layout.planCounts().toString(),
                        layout.sinkRows().toString(),
                        cancelled,
                        shards)));
        return layout.sinkRequest();
    }
}
