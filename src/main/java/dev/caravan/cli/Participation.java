package dev.caravan.cli;

import dev.caravan.CaravanException;
import dev.caravan.shard.MergeRecord;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/** Strict participation: every one of a known number of hosts must have done a shard. */
final class Participation {
    private Participation() {}

    /** @return the cap on each node's claims, empty where any node may do any number */
    static OptionalInt cap(boolean strict, @Nullable Integer nodes, @Nullable Integer shards) {
        if (!strict) {
            return OptionalInt.empty();
        }
        if (nodes == null || nodes < 1) {
            throw new CaravanException("--require-all-nodes needs --nodes N: how many hosts take part?");
        }
        if (shards == null) {
            throw new CaravanException("--require-all-nodes needs a number of shards, not auto");
        }
        int most = (shards + nodes - 1) / nodes;
        if (shards < nodes || (long) (nodes - 1) * most >= shards) {
            throw new CaravanException(shards + " shards cannot be divided so that each of " + nodes
                    + " nodes must do one: use a multiple of the number of nodes");
        }
        return OptionalInt.of(most);
    }

    /** @throws CaravanException if fewer hosts than {@code nodes} did the work */
    static void require(int nodes, MergeRecord merged) {
        long hosts = merged.nodes().stream()
                .map(MergeRecord.Node::hostname)
                .distinct()
                .count();
        if (hosts < nodes) {
            throw new CaravanException("the job is done, by " + hosts + " host(s) and not by " + nodes
                    + " as --require-all-nodes asks: " + merged.nodes());
        }
    }
}
