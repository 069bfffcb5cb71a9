package dev.caravan.lease;

import dev.caravan.shard.Timing;

/** How a node tells who lives: by watching others' claims, and by its own beats for those it holds. */
class Liveness {
    private final Timing timing;

    Liveness(Timing timing) {
        this.timing = timing;
    }

    /** A new observer. */
    Watch observer() {
        return new Watch(timing);
    }

    /** @param began when the claim was begun to be made, on this node's monotonic clock */
    LeaseHealth ownerSince(long began) {
        return new LeaseHealth(timing, began);
    }
}
