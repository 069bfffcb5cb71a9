package dev.caravan.jsonl;

import java.util.concurrent.atomic.AtomicInteger;

/** Part of a file, shared by all who look at it; its place in memory is free again after the last one. Thread-safe. */
public final class Block {
    private final byte[] buffer;
    private final int length;
    private final long offset;
    private final Runnable free;
    private final AtomicInteger users = new AtomicInteger(1);

    Block(byte[] buffer, int length, long offset, Runnable free) {
        this.buffer = buffer;
        this.length = length;
        this.offset = offset;
        this.free = free;
    }

    /** Holds the part from 0 on; not to be changed. */
    public byte[] buffer() {
        return buffer;
    }

    public int length() {
        return length;
    }

    /** Of the first byte in the file. */
    public long offset() {
        return offset;
    }

    /** By one who uses the block already. */
    public void share() {
        users.incrementAndGet();
    }

    public void release() {
        if (users.decrementAndGet() == 0) {
            free.run();
        }
    }
}
