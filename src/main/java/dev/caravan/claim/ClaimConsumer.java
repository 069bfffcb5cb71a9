package dev.caravan.claim;

import dev.caravan.lease.Claimed;
import dev.caravan.shard.ClaimStatus;
import dev.caravan.shard.FailureClass;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.camel.Exchange;
import org.apache.camel.Processor;
import org.apache.camel.ShutdownRunningTask;
import org.apache.camel.spi.ShutdownAware;
import org.apache.camel.support.ScheduledPollConsumer;
import org.apache.camel.support.service.ServiceHelper;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Its thread takes a lease, carries the exchange through the route, and takes the next. */
final class ClaimConsumer extends ScheduledPollConsumer implements ShutdownAware {
    static final String KEY = "CaravanKey";
    static final String EPOCH = "CaravanEpoch";
    static final String TOKEN = "CaravanToken";

    private static final Logger LOG = LoggerFactory.getLogger(ClaimConsumer.class);

    private final WorkSource source;
    private final List<ClaimConsumer> others = new ArrayList<>();
    private boolean inTrouble;
    private volatile boolean busy;

    ClaimConsumer(ClaimEndpoint endpoint, Processor processor, WorkSource source) {
        super(endpoint, processor);
        this.source = source;
    }

    void startWith(ClaimConsumer another) {
        others.add(another);
    }

    @Override
    protected void doStart() throws Exception {
        super.doStart();
        ServiceHelper.startService(others);
    }

    @Override
    protected void doStop() throws Exception {
        ServiceHelper.stopService(others);
        super.doStop();
    }

    /** Waits for the next look here: Camel itself would always wait for the whole delay. */
    @Override
    protected int poll() throws Exception {
        long seen = source.nextLook().news();
        busy = true;
        try {
            if (claimAndProcess() > 0) {
                return 1;
            }
        } finally {
            busy = false;
        }
        try {
            source.nextLook().await(seen, getDelay());
            return 1;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return 0;
        }
    }

    /** Suspended at once; the threads are not interrupted before what they hold has ended. */
    @Override
    public boolean deferShutdown(ShutdownRunningTask shutdownRunningTask) {
        return false;
    }

    /** Camel itself counts no claim that is being made and no exchange that is being ended. */
    @Override
    public int getPendingExchangesSize() {
        return (busy ? 1 : 0)
                + (int) others.stream().filter(other -> other.busy).count();
    }

    @Override
    public void prepareShutdown(boolean suspendOnly, boolean forced) {
        // the source has been told to give no more work
    }

    private int claimAndProcess() throws IOException {
        Optional<? extends Claimed> claimed;
        try {
            claimed = source.claimNext();
            if (inTrouble) {
                LOG.info("{}: the shared directory answers again", getEndpoint());
            }
            inTrouble = false;
        } catch (IOException e) {
            if (!inTrouble) {
                LOG.warn("{}: cannot claim ({}); trying again at each poll", getEndpoint(), e.toString());
            }
            inTrouble = true;
            return 0;
        }
        if (claimed.isEmpty()) {
            return 0;
        }
        process(claimed.get());
        return 1;
    }

    private void process(Claimed work) {
        Exchange exchange = createExchange(false);
        try {
            exchange.getMessage().setBody(work);
            exchange.setProperty(KEY, work.lease().claim().key());
            exchange.setProperty(EPOCH, work.lease().claim().epoch());
            exchange.setProperty(TOKEN, work.lease().claim().token());
            try {
                getProcessor().process(exchange);
            } catch (Exception e) {
                exchange.setException(e);
            }
            Exception failure = exchange.getException();
            if (failure == null) {
                work.lease()
                        .end(ClaimStatus.RELEASED, null, "the route ended without a result"); // no-op after a result
            } else {
                work.lease().end(ClaimStatus.FAILED, FailureClass.INFRA, failure.toString());
                getExceptionHandler().handleException("route failed for " + work, exchange, failure);
            }
        } finally {
            source.finished(work);
            releaseExchange(exchange, false);
        }
    }
}
