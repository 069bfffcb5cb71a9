package dev.caravan.lease;

import dev.caravan.shard.NodeIdentity;
import dev.caravan.store.LeaseStore;
import java.nio.file.attribute.FileTime;

/** Leases that are broken on purpose, each in one way that looks harmless on one machine. */
public final class Mutants {
    private Mutants() {}

    /** Takes over whatever has not been touched for a lease according to the observer's own wall clock. */
    public static Leases takingOverByWallClock(LeaseStore store, Heart heart, NodeIdentity node, RetryPace pace) {
        return new Leases(store, heart, node, pace, new Liveness(heart.timing()) {
            @Override
            Watch observer() {
                return new Watch(heart.timing()) {
                    @Override
                    boolean isDead(String key, long now) {
                        return of(key).filter(seen -> isOld((FileTime) seen.beat()))
                                .isPresent();
                    }

                    private boolean isOld(FileTime beat) {
                        return beat.toInstant().plus(heart.timing().lease()).isBefore(heart.now());
                    }
                };
            }
        });
    }

    /** Never gives up a lease because its own beats fail. */
    public static Leases neverFencing(LeaseStore store, Heart heart, NodeIdentity node, RetryPace pace) {
        return new Leases(store, heart, node, pace, new Liveness(heart.timing()) {
            @Override
            LeaseHealth ownerSince(long began) {
                return new LeaseHealth(heart.timing(), began) {
                    private boolean lost;

                    @Override
                    synchronized boolean isLost(long now) {
                        return lost;
                    }

                    @Override
                    synchronized void lose() {
                        lost = true;
                    }
                };
            }
        });
    }
}
