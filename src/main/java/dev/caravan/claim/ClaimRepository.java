package dev.caravan.claim;

import dev.caravan.lease.HeldLease;
import dev.caravan.lease.Leases;
import dev.caravan.lease.Verdict;
import dev.caravan.shard.ClaimStatus;
import dev.caravan.shard.Policy;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.camel.spi.IdempotentRepository;
import org.apache.camel.support.service.ServiceSupport;

/**
 * The lease store in Camel's own terms, for an {@code idempotentConsumer} or a stock {@code file:} route: add claims a
 * key over all nodes, confirm ends the claim as done, remove gives back what this node holds. Removing a key that
 * another node holds does nothing, since the stock consumer does that after each add that failed.
 */
public final class ClaimRepository extends ServiceSupport implements IdempotentRepository {
    private final Leases leases;
    private final Map<String, HeldLease> held = new ConcurrentHashMap<>();

    public ClaimRepository(Leases leases) {
        this.leases = leases;
    }

    @Override
    public boolean add(String key) {
        requireFileName(key);
        try {
            return leases.judge(key, highest(key), Policy.DEFAULT) instanceof Verdict.Claimable basis
                    && leases.claim(key, basis, token -> null)
                            .map(lease -> held.put(key, lease) == null)
                            .orElse(false);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot claim " + key, e);
        }
    }

    @Override
    public boolean contains(String key) {
        try {
            return !(leases.judge(key, highest(key), Policy.DEFAULT) instanceof Verdict.Claimable);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot look at the claim of " + key, e);
        }
    }

    private static void requireFileName(String key) {
        if (key.isEmpty() || key.startsWith(".") || key.indexOf('/') >= 0) {
            throw new IllegalArgumentException(
                    "a key becomes the name of a lock file, so it cannot be empty, begin with"
                            + " a dot or hold a slash: '" + key + "'; with file: use idempotentKey=${file:name}");
        }
    }

    private long highest(String key) throws IOException {
        return leases.highestEpochs().getOrDefault(key, 0L);
    }

    @Override
    public boolean remove(String key) {
        return end(key, ClaimStatus.RELEASED);
    }

    @Override
    public boolean confirm(String key) {
        return end(key, ClaimStatus.DONE);
    }

    private boolean end(String key, ClaimStatus status) {
        HeldLease lease = held.remove(key);
        if (lease == null) {
            return false;
        }
        lease.end(status, null, null);
        return true;
    }

    /** Claims are facts on the shared directory; what other nodes hold is not this node's to clear. */
    @Override
    public void clear() {
        held.keySet().forEach(this::remove);
    }

    @Override
    protected void doStop() {
        clear();
    }
}
