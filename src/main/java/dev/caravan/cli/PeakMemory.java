package dev.caravan.cli;

import dev.caravan.store.Disk;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The most memory that all processes which this one has started had together, as seen several times a second. What they
 * share is counted once (the kernel's proportional set size).
 */
final class PeakMemory implements AutoCloseable {
    private static final int LOOK_EVERY_MILLIS = 200;
    private static final Pattern SHARE = Pattern.compile("(?m)^Pss: +(\\d+) kB$");

    private final ScheduledExecutorService looking = Executors.newSingleThreadScheduledExecutor();
    private volatile long bytes;

    PeakMemory() {
        looking.scheduleWithFixedDelay(this::look, 0, LOOK_EVERY_MILLIS, TimeUnit.MILLISECONDS);
    }

    private void look() {
        long now = ProcessHandle.current()
                .descendants()
                .mapToLong(process -> share(process.pid()))
                .sum();
        bytes = Math.max(bytes, now);
    }

    private static long share(long pid) {
        return Disk.readKernelText("/proc/" + pid + "/smaps_rollup")
                .map(SHARE::matcher)
                .filter(Matcher::find)
                .map(found -> Long.parseLong(found.group(1)) * 1024)
                .orElse(0L);
    }

    /** 0 if no process lived long enough to be seen. */
    long bytes() {
        return bytes;
    }

    @Override
    public void close() {
        looking.shutdownNow();
    }
}
