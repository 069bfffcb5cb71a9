package dev.caravan.lease;

/** Work that this node holds a lease for: one of these is the body of each exchange of a {@code claim:} endpoint. */
public sealed interface Claimed permits ClaimedShard, ClaimedRole {
    HeldLease lease();
}
