package dev.caravan.jsonl;

import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

/** Hashes parts of blocks in the order in which they are given, each by any thread. Given by one thread. */
public final class OrderedDigest {
    private final Executor threads;
    private final MessageDigest digest = Sha256.digest();
    private CompletableFuture<Void> last = CompletableFuture.completedFuture(null);

    public OrderedDigest(Executor threads) {
        this.threads = threads;
    }

    /** Shares the block until the part is hashed. */
    public void add(Block block, int from, int to) {
        block.share();
        last = last.thenRunAsync(
                () -> {
                    digest.update(block.buffer(), from, to - from);
                    block.release();
                },
                threads);
    }

    /** The same of whole lines, with the line feed that the last one may lack. */
    public void addLines(Block block, int from, int to) {
        add(block, from, to);
        if (block.buffer()[to - 1] != '\n') {
            last = last.thenRunAsync(() -> digest.update((byte) '\n'), threads);
        }
    }

    /** Waits for all that was given. */
    public String hex() {
        last.join();
        return HexFormat.of().formatHex(digest.digest());
    }
}
