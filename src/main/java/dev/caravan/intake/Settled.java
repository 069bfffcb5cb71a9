package dev.caravan.intake;

import java.io.File;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.LongSupplier;
import org.apache.camel.component.file.GenericFile;
import org.apache.camel.component.file.GenericFileFilter;

/**
 * Lets a file of the inbox pass once this node has seen it unchanged for a while, by its own clock. Unlike a read lock it
 * waits for no file: one that is being written for hours keeps no other waiting, and many settle at the same time.
 */
public final class Settled implements GenericFileFilter<File> {
    /** More than an inbox holds at any time; forgetting a file only makes it settle again. */
    private static final int REMEMBERED = 10_000;

    private final long settleNanos;
    private final LongSupplier nanoClock;
    private final Map<String, Seen> seen = new LinkedHashMap<>(16, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Seen> eldest) {
            return size() > REMEMBERED;
        }
    };

    private record Seen(long size, long modified, long sinceNanos) {}

    public Settled(Duration settle, LongSupplier nanoClock) {
        this.settleNanos = settle.toNanos();
        this.nanoClock = nanoClock;
    }

    @Override
    public synchronized boolean accept(GenericFile<File> file) {
        long now = nanoClock.getAsLong();
        Seen before = seen.get(file.getAbsoluteFilePath());
        if (before != null && before.size() == file.getFileLength() && before.modified() == file.getLastModified()) {
            return now - before.sinceNanos() >= settleNanos;
        }
        seen.put(file.getAbsoluteFilePath(), new Seen(file.getFileLength(), file.getLastModified(), now));
        return settleNanos == 0;
    }
}
