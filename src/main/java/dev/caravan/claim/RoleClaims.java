package dev.caravan.claim;

import dev.caravan.lease.ClaimedRole;
import dev.caravan.lease.Heart;
import dev.caravan.lease.Leases;
import dev.caravan.lease.RetryPace;
import dev.caravan.lease.Verdict;
import dev.caravan.shard.NodeIdentity;
import dev.caravan.shard.Policy;
import dev.caravan.shard.Role;
import dev.caravan.store.Layout;
import dev.caravan.store.LeaseStore;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The claims of one generation's roles on this node. There is no rank 0: any node may hold a role, one at a time does. */
public final class RoleClaims {
    /** Whoever dies with a role has done no harm: there is always a next one, unless roles kill every node. */
    private static final Policy PATIENT = new Policy(3, 100, 1, 3, Duration.ZERO, Duration.ZERO);

    private final Layout.Job job;
    private final Layout.Generation generation;
    private final Leases leases;

    public RoleClaims(Layout.Job job, Layout.Generation generation, Heart heart, NodeIdentity node, RetryPace pace) {
        this.job = job;
        this.generation = generation;
        this.leases = new Leases(new LeaseStore(generation.path()), heart, node, pace);
    }

    /** Claims the role if nobody holds it. */
    public Optional<ClaimedRole> claim(Role role) throws IOException {
        long highest = leases.highestEpochs().getOrDefault(role.toString(), 0L);
        Verdict verdict = leases.judge(role.toString(), highest, PATIENT);
        if (verdict instanceof Verdict.Claimable basis) {
            return claim(role, basis, null);
        }
        if (verdict instanceof Verdict.Exhausted exhausted) {
            return claim(
                    role,
                    exhausted.next(),
                    "gave up after %d failures, the last on %s: %s"
                            .formatted(
                                    exhausted.next().spent().total(),
                                    exhausted.last().node(),
                                    exhausted.last().reason()));
        }
        return Optional.empty();
    }

    private Optional<ClaimedRole> claim(Role role, Verdict.Claimable basis, @Nullable String giveUp)
            throws IOException {
        return leases.claim(role.toString(), basis, token -> null)
                .map(lease -> new ClaimedRole(job, generation, lease, giveUp));
    }

    /** Looks at the roles' running claims, so that a dead holder is noticed. */
    public void watch() throws IOException {
        for (Map.Entry<String, Long> highest : leases.highestEpochs().entrySet()) {
            if (!leases.hasSeenEnd(highest.getKey(), highest.getValue())) {
                leases.look(highest.getKey(), highest.getValue());
            }
        }
    }
}
