package dev.caravan.lease;

import dev.caravan.shard.Spent;
import java.time.Duration;

/**
 * How long a failed shard rests before it is tried again, from the moment an observer first saw the failure.
 *
 * @param backoff after the first failure; doubles with each further one
 * @param backoffMax where the doubling ends
 * @param otherNodeFirst how much longer a node waits on which the shard has failed, so that others get it first
 */
public record RetryPace(Duration backoff, Duration backoffMax, Duration otherNodeFirst) {

    Duration rest(Spent spent, boolean failedHere) {
        int doublings = Math.min(Math.max(spent.total() - 1, 0), 20);
        Duration grown = backoff.multipliedBy(1L << doublings);
        Duration rest = grown.compareTo(backoffMax) > 0 ? backoffMax : grown;
        return failedHere ? rest.plus(otherNodeFirst) : rest;
    }
}
