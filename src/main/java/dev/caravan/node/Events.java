package dev.caravan.node;

import dev.caravan.intake.Inbox;
import dev.caravan.lease.ClaimedRole;
import dev.caravan.lease.ClaimedShard;
import dev.caravan.shard.Claim;
import dev.caravan.shard.ClaimStatus;
import dev.caravan.shard.NodeIdentity;
import dev.caravan.status.EventCounts;
import dev.caravan.store.Json;
import java.time.Clock;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import org.apache.camel.Body;
import org.apache.camel.CamelContext;
import org.apache.camel.Exchange;
import org.apache.camel.ProducerTemplate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What happens to jobs on this node, as messages to one endpoint that a route of the user may read: JSON text, its main
 * members also as headers. Without such a route nothing is kept, and no reader can hold the work up.
 */
public final class Events {
    private static final Logger LOG = LoggerFactory.getLogger(Events.class);
    private static final String ENDPOINT =
            "seda:caravan-events?discardIfNoConsumers=true&discardWhenFull=true&waitForTaskToComplete=Never";

    private final NodeIdentity node;
    private final Clock clock;
    private final EventCounts counts;
    private volatile @Nullable ProducerTemplate producer;

    Events(NodeIdentity node, Clock clock, EventCounts counts) {
        this.node = node;
        this.clock = clock;
        this.counts = counts;
    }

    void start(CamelContext camel) {
        producer = camel.createProducerTemplate();
    }

    public void accepted(@Body Object reception) {
        if (reception instanceof Inbox.Reception.Accepted accepted) {
            send(EventCounts.Kind.ACCEPTED, Map.of("job", accepted.descriptor().name()));
        }
    }

    public void prepared(@Body ClaimedRole role) {
        send(EventCounts.Kind.PREPARED, Map.of("job", role.job().name()));
    }

    public void claimed(@Body ClaimedShard shard) {
        Claim claim = shard.lease().claim();
        send(
                claim.isSpeculative()
                        ? EventCounts.Kind.SPECULATED
                        : claim.tookOver() != null ? EventCounts.Kind.TAKEN_OVER : EventCounts.Kind.CLAIMED,
                of(shard));
    }

    public void done(@Body ClaimedShard shard) {
        if (shard.lease().end().equals(Optional.of(ClaimStatus.DONE))) {
            send(EventCounts.Kind.DONE, of(shard));
        }
    }

    /** An attempt has failed; {@code final} says whether the shard has. */
    public void failed(@Body ClaimedShard shard) {
        shard.lease()
                .ended()
                .filter(claim -> claim.status() == ClaimStatus.FAILED)
                .ifPresent(claim -> send(EventCounts.Kind.FAILED, failure(shard, claim)));
    }

    private static Map<String, Object> failure(ClaimedShard shard, Claim claim) {
        Map<String, Object> event = new LinkedHashMap<>(of(shard));
        event.put("failure_class", String.valueOf(claim.failureClass()));
        event.put("reason", String.valueOf(claim.reason()));
        event.put(
                "final",
                !claim.isSpeculative()
                        && claim.spentAfter().exceeds(shard.manifest().policy()));
        return event;
    }

    /** The job has ended; a few nodes may tell of the same end. */
    void finished(String job, String state) {
        send(EventCounts.Kind.FINISHED, Map.of("job", job, "state", state));
    }

    private static Map<String, Object> of(ClaimedShard shard) {
        Map<String, Object> event = new LinkedHashMap<>();
        event.put("job", shard.manifest().jobId());
        event.put("shard", shard.shard().id().toString());
        event.put("epoch", shard.lease().claim().epochOfShard());
        event.put("rows", shard.shard().rows());
        return event;
    }

    private void send(EventCounts.Kind kind, Map<String, Object> what) {
        counts.count(kind);
        Map<String, Object> event = new LinkedHashMap<>();
        event.put("event", kind.toString());
        event.putAll(what);
        event.put("node", node.id());
        event.put("at", clock.instant().toString());
        ProducerTemplate to = producer;
        if (to == null) {
            return;
        }
        try {
            to.sendBodyAndHeaders(
                    ENDPOINT,
                    Json.line(event),
                    Map.of(
                            "CaravanEvent",
                            kind.toString(),
                            "CaravanJob",
                            event.get("job"),
                            Exchange.CONTENT_TYPE,
                            "application/json"));
        } catch (RuntimeException e) {
            LOG.warn("the event {} could not be handed on ({})", kind, e.toString());
        }
    }
}
