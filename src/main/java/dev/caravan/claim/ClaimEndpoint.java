package dev.caravan.claim;

import org.apache.camel.Component;
import org.apache.camel.Consumer;
import org.apache.camel.Processor;
import org.apache.camel.Producer;
import org.apache.camel.support.ScheduledPollEndpoint;
import org.jspecify.annotations.Nullable;

/**
 * Options: {@code source} (a {@link WorkSource}), {@code slots} (leases worked on at once), {@code prefetch} (leases taken
 * ahead of a slot), and those of polling consumers.
 */
public final class ClaimEndpoint extends ScheduledPollEndpoint {
    private @Nullable WorkSource source;
    private int slots = 1;
    private int prefetch;

    ClaimEndpoint(String uri, Component component) {
        super(uri, component);
        setGreedy(true);
        setInitialDelay(0);
    }

    @Override
    public Consumer createConsumer(Processor processor) throws Exception {
        if (source == null) {
            throw new IllegalArgumentException(
                    "endpoint " + getEndpointUri() + " needs a source, such as source=#shardWork");
        }
        ClaimConsumer consumer = new ClaimConsumer(this, processor, source);
        configureConsumer(consumer);
        for (int i = 1; i < consumers(); i++) {
            ClaimConsumer another = new ClaimConsumer(this, processor, source);
            configureConsumer(another);
            consumer.startWith(another);
        }
        return consumer;
    }

    /** A lease has a consumer of its own to its end, also when its work is over and its result is yet to be published. */
    private int consumers() {
        return prefetch == 0 ? slots : slots + prefetch + slots;
    }

    @Override
    public Producer createProducer() {
        throw new UnsupportedOperationException("claim: endpoints give work, they take none; use them in 'from'");
    }

    public void setSource(WorkSource source) {
        this.source = source;
    }

    public void setSlots(int slots) {
        if (slots < 1) {
            throw new IllegalArgumentException("slots must be 1 or more, not " + slots);
        }
        this.slots = slots;
    }

    public void setPrefetch(int prefetch) {
        this.prefetch = prefetch;
    }
}
