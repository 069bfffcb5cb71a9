package dev.caravan.claim;

import dev.caravan.lease.Claimed;
import java.io.IOException;
import java.util.Optional;

/** Where a {@code claim:} endpoint gets its work. Called by several consumers at once. */
public interface WorkSource {
    /** Claims one piece of work, or finds none to claim now. */
    Optional<? extends Claimed> claimNext() throws IOException;

    /** When a consumer that has found nothing looks again. */
    NextLook nextLook();

    /** The exchange of this work is over and its lease has ended. */
    void finished(Claimed work);
}
