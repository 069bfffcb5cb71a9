package dev.caravan.status;

import dev.caravan.shard.AttemptRecord;
import dev.caravan.shard.ShardId;
import dev.caravan.store.Disk;
import dev.caravan.store.JobFiles;
import dev.caravan.store.Json;
import dev.caravan.store.Layout;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The attempts of a job's shards and their logs. Names come from outside: a shard's is parsed, an attempt's must be one
 * of a listing, so that no path leads elsewhere.
 */
public final class AttemptFiles {
    private final Layout.Job job;

    public AttemptFiles(JobFiles job) {
        this.job = job.layout();
    }

    /** @param name of the attempt's directory */
    public record Line(String name, long logBytes, AttemptRecord record) {}

    /** In the order of their epochs. */
    public List<Line> of(ShardId shard) throws IOException {
        List<Line> lines = new ArrayList<>();
        for (String name : names(shard)) {
            Layout.Attempt attempt = attempt(shard, name);
            Optional<byte[]> record = Disk.readIfPresent(attempt.record());
            if (record.isPresent()) {
                lines.add(new Line(
                        name, Disk.treeSize(attempt.log().toString()), Json.parse(record.get(), AttemptRecord.class)));
            }
        }
        return lines;
    }

    /** The last bytes of an attempt's log; empty if there is no such attempt, or no log of it yet. */
    public Optional<byte[]> logTail(ShardId shard, String name, int most) throws IOException {
        return names(shard).contains(name) ? Disk.tail(attempt(shard, name).log(), most) : Optional.empty();
    }

    private List<String> names(ShardId shard) throws IOException {
        return Disk.list(job.attempts(shard)).stream()
                .filter(name -> !Layout.isHidden(name))
                .toList();
    }

    private Layout.Attempt attempt(ShardId shard, String name) {
        return new Layout.Attempt(job.attempts(shard).resolve(name));
    }
}
