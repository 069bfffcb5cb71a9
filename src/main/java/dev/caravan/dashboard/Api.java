package dev.caravan.dashboard;

import dev.caravan.CaravanException;
import dev.caravan.claim.JobControl;
import dev.caravan.claim.Requeue;
import dev.caravan.shard.NodeIdentity;
import dev.caravan.shard.ShardId;
import dev.caravan.status.AttemptFiles;
import dev.caravan.status.JobStatus;
import dev.caravan.status.ReadModel;
import dev.caravan.store.JobFiles;
import java.io.IOException;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What the API answers, without HTTP. */
final class Api {
    private static final int MOST_LOG_BYTES = 1 << 20;

    private final ReadModel model;
    private final NodeIdentity who;
    private final Clock clock;

    Api(ReadModel model, NodeIdentity who, Clock clock) {
        this.model = model;
        this.who = who;
        this.clock = clock;
    }

    List<JobStatus> jobs() throws IOException {
        return model.jobs();
    }

    Object nodes() throws IOException {
        return model.nodes();
    }

    JobStatus job(String name) throws IOException {
        return model.status(files(name));
    }

    Object shards(String name) throws IOException {
        List<JobStatus.ShardLine> lines = job(name).allShards();
        return lines == null ? List.of() : lines;
    }

    Object figures(String name) throws IOException {
        return model.figures(files(name));
    }

    Object attempts(String name, String shard) throws IOException {
        return new AttemptFiles(files(name)).of(shard(shard));
    }

    byte[] log(String name, String shard, String attempt, @Nullable String bytes) throws IOException {
        return new AttemptFiles(files(name))
                .logTail(shard(shard), attempt, logBytes(bytes))
                .orElseThrow(() -> Refusal.unknown("log of attempt " + attempt + " of " + shard));
    }

    private static int logBytes(@Nullable String asked) {
        if (asked == null) {
            return 1 << 16;
        }
        if (!asked.matches("\\d{1,7}") || Integer.parseInt(asked) > MOST_LOG_BYTES) {
            throw new Refusal(400, "bytes: expected a number up to " + MOST_LOG_BYTES + ", found " + asked);
        }
        return Integer.parseInt(asked);
    }

    /** @param shard null for all shards that have failed for good */
    Object retry(String name, @Nullable String shard) throws IOException {
        Requeue requeue = new Requeue(files(name), who);
        List<ShardId> shards = shard == null ? requeue.allFailed() : List.of(shard(shard));
        requeue.requeue(shards);
        return Map.of("job", name, "requeued", shards);
    }

    Object control(String name, String act) throws IOException {
        JobControl control = new JobControl(files(name), who, clock);
        switch (act) {
            case "pause" -> control.pause();
            case "resume" -> control.resume();
            case "cancel" -> control.cancel();
            default -> throw Refusal.unknown("action " + act + " (retry, pause, resume, cancel)");
        }
        return Map.of("job", name, "state", job(name).state());
    }

    Object drain(String nodeId) throws IOException {
        model.drain(nodeId).orElseThrow(() -> Refusal.unknown("node " + nodeId)).ask();
        return Map.of("node", nodeId, "drain", true);
    }

    private JobFiles files(String name) throws IOException {
        return model.job(name).orElseThrow(() -> Refusal.unknown("job " + name));
    }

    private static ShardId shard(String id) {
        try {
            return ShardId.parse(id);
        } catch (IllegalArgumentException e) {
            throw new Refusal(404, String.valueOf(e.getMessage()));
        }
    }

    /** How a failure is told. */
    static int status(Throwable failure) {
        if (failure instanceof Refusal refusal) {
            return refusal.status();
        }
        boolean mount = failure instanceof IOException || failure.getCause() instanceof IOException;
        return mount ? 503 : failure instanceof CaravanException ? 409 : 500;
    }
}
