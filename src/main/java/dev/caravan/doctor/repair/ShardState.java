package dev.caravan.doctor.repair;

import dev.caravan.shard.Claim;
import dev.caravan.shard.DoneRecord;
import dev.caravan.shard.FailedRecord;
import dev.caravan.shard.ShardId;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** All that the state directory says of one shard. */
final class ShardState {
    final ShardId id;
    /** By epoch; torn ones have no value. */
    final TreeMap<Long, Records.Read<Claim>> claims = new TreeMap<>();

    /** Of second attempts, by number. */
    final TreeMap<Long, Records.Read<Claim>> speculative = new TreeMap<>();

    Records.@Nullable Read<DoneRecord> done;
    Records.@Nullable Read<FailedRecord> failed;

    ShardState(ShardId id) {
        this.id = id;
    }

    boolean isDone() {
        return done != null && done.value() != null;
    }

    /** The claim of the highest epoch, if it can be read. */
    Optional<Claim> lastClaim() {
        return claims.isEmpty()
                ? Optional.empty()
                : Optional.ofNullable(claims.lastEntry().getValue().value());
    }

    boolean isLast(long epoch) {
        return !claims.isEmpty() && claims.lastKey() == epoch;
    }
}
