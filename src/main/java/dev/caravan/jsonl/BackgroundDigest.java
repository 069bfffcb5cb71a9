package dev.caravan.jsonl;

import java.io.Closeable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** Hashes on a thread of its own what another thread goes on with: from copies, a few at a time. Given by one thread. */
public final class BackgroundDigest implements Closeable {
    private static final int COPIES = 8;

    private final ExecutorService thread = Executors.newSingleThreadExecutor(work -> {
        Thread made = new Thread(work, "hash");
        made.setDaemon(true);
        return made;
    });
    private final Blocks blocks = new Blocks(COPIES);
    private final OrderedDigest digest = new OrderedDigest(thread);

    public void update(byte[] b, int from, int length) {
        for (int at = from, to = from + length; at < to; ) {
            int end = Math.min(to, at + Blocks.SIZE);
            Block copy = blocks.copy(b, at, end);
            digest.add(copy, 0, copy.length());
            copy.release();
            at = end;
        }
    }

    /** Hex, of all that was given; call once, at the end. */
    public String hex() {
        return digest.hex();
    }

    @Override
    public void close() {
        thread.shutdownNow();
    }
}
