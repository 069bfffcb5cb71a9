package dev.caravan.lease;

import dev.caravan.shard.Claim;
import dev.caravan.shard.Spent;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What may be done about a key now. */
public sealed interface Verdict {

    /**
     * The next epoch may be claimed.
     *
     * @param epoch the epoch to claim
     * @param tookOver the dead claim that is replaced, null if the last one had ended
     */
    record Claimable(
            long epoch,
            Spent spent,
            List<String> failedOn,
            @Nullable Claim tookOver) implements Verdict {}

    /** Somebody holds it, or it rests after a failure. */
    record Wait() implements Verdict {}

    /** Its last claim ended with success: no further claim, even where the done record cannot be seen yet. */
    record Finished() implements Verdict {}

    /** A budget is used up and the terminal failure has to be published by the owner of the next epoch. */
    record Exhausted(Claimable next, Claim last) implements Verdict {}
}
