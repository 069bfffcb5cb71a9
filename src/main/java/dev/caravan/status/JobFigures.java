package dev.caravan.status;

import dev.caravan.shard.FailureClass;
import dev.caravan.shard.ShardId;
import java.util.List;

/**
 * How a job went so far: what people look at when it is slow or fails.
 *
 * @param throughput what was finished in equal stretches of time, oldest first
 * @param slowest finished shards that took longest, slowest first
 * @param errors what failed attempts failed of, most frequent first
 * @param spans when each finished shard was worked on, for a timeline; by the clocks of the nodes
 */
public record JobFigures(List<Stretch> throughput, List<Span> slowest, List<ErrorClass> errors, List<Span> spans) {

    public JobFigures {
        throughput = List.copyOf(throughput);
        slowest = List.copyOf(slowest);
        errors = List.copyOf(errors);
        spans = List.copyOf(spans);
    }

    /** @param from milliseconds since the epoch */
    public record Stretch(long from, long seconds, long rows, int shards) {}

    /**
     * @param from milliseconds since the epoch
     * @param speculative whether it was a second attempt
     */
    public record Span(ShardId shard, String node, long from, double seconds, long rows, boolean speculative) {}

    /** @param example the first attempt that failed so */
    public record ErrorClass(FailureClass failureClass, String reason, int count, Example example) {}

    /** @param attempt the name of the attempt's directory; empty if there is none */
    public record Example(ShardId shard, long epoch, String node, String reason, String attempt) {}
}
