package dev.caravan.doctor;

import dev.caravan.store.Disk;
import dev.caravan.store.Json;
import dev.caravan.store.Probe;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** What a helper process does: one task a line in, one answer a line out, until its input ends. */
public final class Helper {
    private static final int READS_BEFORE_LOOK = 10;
    private static final int REPLACED_BYTES = 64 * 1024;
    private static final long WINNERS_REST_NANOS = 1_000_000;

    private final Probe probe;
    private final LongSupplier nanoClock;
    private @Nullable AutoCloseable held;

    public Helper(Probe probe, LongSupplier nanoClock) {
        this.probe = probe;
        this.nanoClock = nanoClock;
    }

    /** Returns once the input ends, whatever is being done: the doctor that asked is gone. */
    public void serve(InputStream in, PrintStream out) throws IOException {
        ExecutorService worker = Executors.newSingleThreadExecutor(task -> {
            Thread thread = new Thread(task, "doctor-helper");
            thread.setDaemon(true);
            return thread;
        });
        try (BufferedReader tasks = new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8))) {
            for (String line; (line = tasks.readLine()) != null; ) {
                Task task = Json.parse(line.getBytes(StandardCharsets.UTF_8), Task.class);
                worker.execute(() -> {
                    out.println(Json.line(answer(task)));
                    out.flush();
                });
            }
        } finally {
            worker.shutdownNow();
            release();
        }
    }

    private Task.Answer answer(Task task) {
        Path folder = Path.of(task.folder());
        try {
            return switch (task.kind()) {
                case RACE_LINK -> Task.Answer.won(raceByLinks(folder, task));
                case RACE_CREATE -> Task.Answer.won(raceByCreating(folder, task));
                case REPLACE -> replace(folder, task);
                case READ -> read(folder, task);
                case ECHO ->
                    Task.Answer.got(new Echo(probe, folder, nanoClock, task.count(), Duration.ofMillis(task.millis()))
                            .answer());
                case HOLD_FCNTL -> hold(probe.lock(folder));
                case TRY_FCNTL -> tried(probe.lock(folder));
                case HOLD_FLOCK -> hold(Flock.hold(folder));
                case TRY_FLOCK -> Task.Answer.got(Flock.isFree(folder));
            };
        } catch (IOException | RuntimeException e) {
            return Task.Answer.failed(Reason.of(e));
        }
    }

    static String raced(int number) {
        return "name-%05d".formatted(number);
    }

    private List<Integer> raceByLinks(Path folder, Task task) throws IOException {
        List<Integer> won = new ArrayList<>();
        byte[] content = task.who().getBytes(StandardCharsets.UTF_8);
        Path mine = folder.resolve("by-" + task.who());
        probe.create(mine, content);
        for (int number = 0; number < task.count(); number++) {
            if (probe.link(mine, folder.resolve(raced(number)))) {
                won.add(number);
                probe.delete(mine);
                probe.create(mine, content);
                letOthersCatchUp();
            }
        }
        return won;
    }

    private List<Integer> raceByCreating(Path folder, Task task) throws IOException {
        List<Integer> won = new ArrayList<>();
        byte[] content = task.who().getBytes(StandardCharsets.UTF_8);
        for (int number = 0; number < task.count(); number++) {
            if (probe.create(folder.resolve(raced(number)), content)) {
                won.add(number);
                letOthersCatchUp();
            }
        }
        return won;
    }

    /** A winner rests, so that the contenders stay side by side also where one begins late. */
    private static void letOthersCatchUp() {
        LockSupport.parkNanos(WINNERS_REST_NANOS);
    }

    static byte[] replacement(long round) {
        byte[] content = new byte[REPLACED_BYTES];
        Arrays.fill(content, (byte) ('a' + round % 26));
        return content;
    }

    private Task.Answer replace(Path file, Task task) throws IOException {
        long began = nanoClock.getAsLong();
        Path next = file.resolveSibling(file.getFileName() + ".next");
        long round = 0;
        while (round < task.count() || nanoClock.getAsLong() - began < task.millis() * 1_000_000) {
            probe.create(next, replacement(round++));
            probe.rename(next, file);
        }
        probe.create(end(file), new byte[0]);
        return new Task.Answer(List.of(), round, 0, 0, 0, false, null);
    }

    private static Path end(Path file) {
        return file.resolveSibling(file.getFileName() + ".end");
    }

    /** Until the writer has ended, or for too long. */
    private Task.Answer read(Path file, Task task) throws IOException {
        long began = nanoClock.getAsLong();
        long reads = 0;
        long missing = 0;
        long mixed = 0;
        long stale = 0;
        while (nanoClock.getAsLong() - began < task.millis() * 1_000_000) {
            reads++;
            try {
                Optional<byte[]> content = probe.read(file);
                missing += content.isEmpty() ? 1 : 0;
                mixed += content.isPresent() && !isWhole(content.get()) ? 1 : 0;
            } catch (IOException e) {
                if (!Disk.isStaleHandle(e)) {
                    throw e;
                }
                stale++;
            }
            if (reads % READS_BEFORE_LOOK == 0 && probe.read(end(file)).isPresent()) {
                break;
            }
        }
        return new Task.Answer(List.of(), reads, missing, mixed, stale, false, null);
    }

    private static boolean isWhole(byte[] content) {
        return content.length == REPLACED_BYTES && Arrays.equals(content, replacement(content[0] - 'a'));
    }

    private Task.Answer hold(Optional<AutoCloseable> lock) {
        release();
        held = lock.orElse(null);
        return Task.Answer.got(lock.isPresent());
    }

    private static Task.Answer tried(Optional<AutoCloseable> lock) throws IOException {
        lock.ifPresent(Helper::close);
        return Task.Answer.got(lock.isPresent());
    }

    private void release() {
        AutoCloseable lock = held;
        held = null;
        if (lock != null) {
            close(lock);
        }
    }

    private static void close(AutoCloseable lock) {
        try {
            lock.close();
        } catch (Exception e) {
            throw new IllegalStateException("cannot let a lock go: " + e, e);
        }
    }
}
