package dev.caravan.jsonl;

import dev.caravan.CaravanException;
import java.io.Closeable;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;

/** Hashes on a thread of its own what another thread goes on with: from copies, a few at a time. Given by one thread. */
public final class BackgroundDigest implements Closeable {
    private static final int BUFFER = 1 << 18;
    private static final int BUFFERS = 8;

    private final MessageDigest digest = Sha256.digest();
    private final Semaphore room = new Semaphore(BUFFERS);
    private final Queue<byte[]> spare = new ConcurrentLinkedQueue<>();
    private final ExecutorService thread = Executors.newSingleThreadExecutor(work -> {
        Thread made = new Thread(work, "hash");
        made.setDaemon(true);
        return made;
    });

    public void update(byte[] b, int from, int length) {
        for (int done = 0; done < length; ) {
            int part = Math.min(BUFFER, length - done);
            byte[] copy = buffer();
            System.arraycopy(b, from + done, copy, 0, part);
            thread.execute(() -> {
                digest.update(copy, 0, part);
                spare.add(copy);
                room.release();
            });
            done += part;
        }
    }

    private byte[] buffer() {
        try {
            room.acquire();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CaravanException("interrupted while a hash was made");
        }
        byte[] used = spare.poll();
        return used == null ? new byte[BUFFER] : used;
    }

    /** Hex, of all that was given; call once, at the end. */
    public String hex() {
        return CompletableFuture.supplyAsync(() -> HexFormat.of().formatHex(digest.digest()), thread)
                .join();
    }

    @Override
    public void close() {
        thread.shutdownNow();
    }
}
