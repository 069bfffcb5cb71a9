package dev.caravan.shard;

import java.util.List;

/** Claims as a node would have made them. */
public final class TestClaims {
    private TestClaims() {}

    public static Claim running(String key, long epoch, String node) {
        return running(key, epoch, node, Spent.NOTHING, List.of());
    }

    public static Claim running(String key, long epoch, String node, Spent spent, List<String> failedOn) {
        return new Claim(
                key,
                epoch,
                "token-" + key + "-" + epoch + "-" + node,
                node,
                "host-of-" + node,
                7,
                "2026-10-01T12:00:00Z",
                ClaimStatus.RUNNING,
                null,
                null,
                null,
                spent,
                failedOn,
                null);
    }
}
