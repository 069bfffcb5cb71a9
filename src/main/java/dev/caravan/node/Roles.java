package dev.caravan.node;

import dev.caravan.CaravanException;
import dev.caravan.lease.ClaimedRole;
import dev.caravan.lease.LeaseLostException;
import dev.caravan.shard.Claim;
import dev.caravan.shard.ClaimStatus;
import dev.caravan.shard.FailureClass;
import dev.caravan.shard.Role;
import dev.caravan.shard.RoleResult;
import dev.caravan.store.GenerationFiles;
import java.io.IOException;
import java.time.Instant;
import java.util.function.BooleanSupplier;
import org.apache.camel.Body;
import org.apache.camel.ExchangeException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** First and last steps of the routes of roles: a role ends with one result that all nodes read. */
public final class Roles {
    private static final Logger LOG = LoggerFactory.getLogger(Roles.class);

    private final BooleanSupplier draining;

    Roles(BooleanSupplier draining) {
        this.draining = draining;
    }

    public void begin(@Body ClaimedRole role) {
        LOG.info("{}: elected", role);
        if (role.giveUp() != null) {
            throw new CaravanException(role.giveUp());
        }
    }

    public void succeed(@Body ClaimedRole role) throws IOException {
        role.lease().requireHeld();
        publish(role, null);
        role.lease().end(ClaimStatus.DONE, null, null);
    }

    /**
     * The error handler of the routes of roles. What the job or its input is to blame for ends the role; trouble with
     * the node or the mount leaves it to the next node.
     */
    public void fail(@Body ClaimedRole role, @ExchangeException Exception failure) throws IOException {
        if (draining.getAsBoolean()) {
            role.lease().end(ClaimStatus.PREEMPTED, null, "the node shuts down");
        } else if (failure instanceof LeaseLostException || !role.lease().isHeld()) {
            role.lease().end(ClaimStatus.SUPERSEDED, null, failure.getMessage());
        } else if (failure instanceof CaravanException && !(failure.getCause() instanceof IOException)) {
            LOG.error("{}: failed: {}", role, failure.getMessage());
            publish(role, failure.getMessage());
            role.lease().end(ClaimStatus.DONE, null, failure.getMessage());
        } else {
            LOG.warn("{}: could not go on; it is tried again", role, failure);
            role.lease().end(ClaimStatus.FAILED, FailureClass.INFRA, failure.toString());
        }
    }

    private static void publish(ClaimedRole role, @Nullable String error) throws IOException {
        Claim claim = role.lease().claim();
        RoleResult result = new RoleResult(
                error == null, claim.node(), claim.hostname(), Instant.now().toString(), error);
        GenerationFiles files = new GenerationFiles(role.generation());
        if (claim.key().equals(Role.PREPARE.toString())) {
            files.publishPrepared(result);
        } else {
            files.publishFinalized(result);
        }
    }
}
