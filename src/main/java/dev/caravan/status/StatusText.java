package dev.caravan.status;

import dev.caravan.shard.FailedRecord;
import java.util.Locale;

/** A job's status as text for people. */
public final class StatusText {
    private StatusText() {}

    /** @param all every shard with its state too */
    public static String of(JobStatus status, boolean all) {
        JobStatus.ShardCounts shards = status.shards();
        StringBuilder text = new StringBuilder();
        line(text, "job     %s (%s)", status.job(), status.jobDir());
        line(text, "state   %s", status.state());
        line(
                text,
                "shards  %d: %d pending, %d running, %d stale, %d done, %d failed",
                shards.total(),
                shards.pending(),
                shards.running(),
                shards.stale(),
                shards.done(),
                shards.failed());
        line(
                text,
                "rows    %d of %d done, %d out, %d filtered, %d expanded, %d failed",
                status.rows().done(),
                status.rows().total(),
                status.rows().out(),
                status.rows().filtered(),
                status.rows().expanded(),
                status.rows().failed());
        if (status.rows().quarantined() > 0) {
            line(
                    text,
                    "bad     %d records of the input are quarantined",
                    status.rows().quarantined());
        }
        if (status.pace() != null) {
            line(
                    text,
                    "pace    %.1f rows/s, ETA %d s",
                    status.pace().rowsPerSecond(),
                    status.pace().etaSeconds());
        }
        JobStatus.Plan plan = status.plan();
        if (plan != null) {
            line(
                    text,
                    "plan    %.0f s forecast (%.0f to %.0f), %.0f s %s; results of %d bytes forecast, %d bytes %s",
                    plan.seconds(),
                    plan.fewestSeconds(),
                    plan.mostSeconds(),
                    plan.takenSeconds(),
                    status.state().ended() ? "taken" : "so far",
                    plan.resultBytes(),
                    plan.takenResultBytes(),
                    status.state().ended() ? "made" : "so far");
        }
        for (JobStatus.NodeShare node : status.nodes()) {
            line(text, "node    %s: %d done, %d running", node.node(), node.done(), node.running());
        }
        for (FailedRecord failure : status.failures()) {
            line(text, "failed  %s: %s", failure.shardId(), failure.summary());
        }
        if (status.error() != null) {
            line(text, "error   %s", status.error());
        }
        if (status.output() != null) {
            line(text, "output  %s%s", status.output(), status.sha256() == null ? "" : "  sha256 " + status.sha256());
        }
        if (all && status.allShards() != null) {
            for (JobStatus.ShardLine shard : status.allShards()) {
                line(
                        text,
                        "%s  %-7s  %8d rows  %s  %s",
                        shard.id(),
                        shard.state(),
                        shard.rows(),
                        shard.node() == null ? "-" : shard.node(),
                        shard.note() == null ? "" : shard.note());
            }
        }
        return text.toString();
    }

    private static void line(StringBuilder text, String format, Object... values) {
        text.append(String.format(Locale.ROOT, format, values).stripTrailing()).append('\n');
    }
}
