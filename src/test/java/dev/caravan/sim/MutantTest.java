package dev.caravan.sim;

import static org.assertj.core.api.Assertions.assertThat;

import dev.caravan.claim.ShardClaims;
import dev.caravan.lease.Heart;
import dev.caravan.lease.Leases;
import dev.caravan.lease.Mutants;
import dev.caravan.lease.RetryPace;
import dev.caravan.shard.Manifest;
import dev.caravan.shard.NodeIdentity;
import dev.caravan.store.JobFiles;
import dev.caravan.store.LeaseStore;
import dev.caravan.store.SharedDirectory;
import java.util.EnumSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The simulation is worth what it finds: well-known mistakes, each caught in the promise that it breaks. */
@ExtendWith(Quietly.class)
class MutantTest {
    private static final int SEEDS = 1000;

    private interface LeasesMade {
        Leases of(LeaseStore store, Heart heart, NodeIdentity node, RetryPace pace);
    }

    enum Mutant implements Variant {
        TAKEOVER_BY_WALL_CLOCK(Promise.TAKEOVER_FROM_THE_DEAD, Mutants::takingOverByWallClock),
        NO_SELF_FENCE(Promise.FENCED_OWNERS_ARE_SILENT, Mutants::neverFencing),
        LOCK_NAME_MADE_AGAIN(Promise.NAMES_ARE_MADE_ONCE, null),
        /** What comes of it. */
        LOCK_DELETED_UNDER_ITS_OWNER(Promise.ONE_LIVE_OWNER, null),
        SECOND_ATTEMPT_ENDS_THE_FIRST(Promise.OWNERS_END_THEIR_CLAIMS, null),
        /** What comes of it. */
        SHARD_CLAIMED_UNDER_ITS_OWNER(Promise.TAKEOVER_FROM_THE_DEAD, null);

        private final Promise breaks;
        private final @Nullable LeasesMade leases;

        Mutant(Promise breaks, @Nullable LeasesMade leases) {
            this.breaks = breaks;
            this.leases = leases;
        }

        @Override
        public SharedDirectory over(SharedDirectory mount, ModelDirectory server, int client) {
            return switch (this) {
                case LOCK_NAME_MADE_AGAIN, LOCK_DELETED_UNDER_ITS_OWNER -> new ReusedLockNames(mount, server, client);
                case SECOND_ATTEMPT_ENDS_THE_FIRST, SHARD_CLAIMED_UNDER_ITS_OWNER -> new EndingSpeculation(mount);
                default -> mount;
            };
        }

        @Override
        public ShardClaims claims(JobFiles job, Manifest manifest, SimNode node, RetryPace pace) {
            return leases == null
                    ? Variant.super.claims(job, manifest, node, pace)
                    : new ShardClaims(
                            job,
                            manifest,
                            node.heart(),
                            node.identity(),
                            pace,
                            leases.of(job.locks(), node.heart(), node.identity(), pace));
        }

        @Override
        public Set<Promise> checked() {
            return EnumSet.of(breaks);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_broken_protocol_is_caught(Mutant mutant) {
        int seed = 0;
        @Nullable BrokenPromise found = null;
        while (found == null && seed < SEEDS) {
            try {
                new Simulation(seed++, mutant, null).run();
            } catch (BrokenPromise broken) {
                found = broken;
            }
        }
        assertThat(found).as("caught within %d seeds", SEEDS).isNotNull();
        assertThat(found.promise()).isEqualTo(mutant.breaks);
    }
}
