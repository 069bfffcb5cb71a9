package dev.caravan.chaos;

import dev.caravan.shard.Claim;
import dev.caravan.shard.ClaimStatus;
import dev.caravan.shard.Role;
import dev.caravan.store.Layout;
import dev.caravan.store.LeaseStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * Watches one job on the server's own disk: when each claim appeared, whether the job gets on, who holds a role. Reads
 * only, from a thread of its own.
 */
final class Observer implements AutoCloseable {
    private static final long LOOK_EVERY_MILLIS = 10;

    private final Layout.Job job;
    private final Layout.Generation generation;
    private final BooleanSupplier somebodyIsHealthy;
    private final Consumer<Claim> onRole;
    private final Map<String, Long> claimsSeenAt = new HashMap<>();
    private final Thread thread = new Thread(this::watch, "chaos-observer");
    private volatile boolean closed;
    private volatile int done;
    private volatile long lastProgress = System.nanoTime();
    private volatile long longestStall;
    private String milestone = "";

    /** @param onRole told at each look who holds a role */
    Observer(Layout.Job job, BooleanSupplier somebodyIsHealthy, Consumer<Claim> onRole) {
        this.job = job;
        this.generation = job.generation("inbox-0001");
        this.somebodyIsHealthy = somebodyIsHealthy;
        this.onRole = onRole;
        thread.setDaemon(true);
    }

    void start() {
        thread.start();
    }

    int done() {
        return done;
    }

    boolean isMerged() {
        return Files.exists(job.mergeRecord());
    }

    boolean hasFailed() {
        return count(job.failedRecords()) > 0
                || read(generation.finalizeResult()).contains("\"ok\":false")
                || read(generation.prepareResult()).contains("\"ok\":false");
    }

    /** The longest time without progress in which at least one node was healthy all the time. */
    long longestStallMillis() {
        return longestStall / 1_000_000;
    }

    /** When a claim was first seen; empty if it came and was never looked at. */
    synchronized OptionalLong seenAt(String key, long epoch) {
        Long seen = claimsSeenAt.get(key + "." + epoch);
        return seen == null ? OptionalLong.empty() : OptionalLong.of(seen);
    }

    private void watch() {
        for (int round = 0; !closed; round++) {
            try {
                lookAtRoles();
                if (round % 5 == 0) {
                    lookAtShards();
                }
                Thread.sleep(LOOK_EVERY_MILLIS);
            } catch (InterruptedException e) {
                return;
            } catch (IOException | RuntimeException changing) {
                // a file that is being replaced; the next look sees more
            }
        }
    }

    private void lookAtRoles() throws IOException {
        LeaseStore roles = new LeaseStore(generation.path());
        Map<String, Long> highest = new HashMap<>();
        for (String name : names(generation.path())) {
            for (Role role : Role.values()) {
                if (name.startsWith(role + ".") && name.endsWith(".lock")) {
                    long epoch = Long.parseLong(name.substring(role.toString().length() + 1, name.length() - 5));
                    highest.merge(role.toString(), epoch, Math::max);
                }
            }
        }
        for (Map.Entry<String, Long> role : highest.entrySet()) {
            see(role.getKey() + "." + role.getValue());
            Optional<Claim> claim = roles.look(role.getKey(), role.getValue()).flatMap(LeaseStore.Sight::claim);
            claim.filter(held -> held.status() == ClaimStatus.RUNNING).ifPresent(onRole);
        }
    }

    private void lookAtShards() {
        for (String name : names(job.locks())) {
            if (name.endsWith(".lock")) {
                see(name.substring(0, name.length() - ".lock".length()));
            }
        }
        int found = count(job.doneRecords());
        String now = found + " " + Files.exists(job.manifest()) + isMerged();
        long time = System.nanoTime();
        if (!now.equals(milestone) || !somebodyIsHealthy.getAsBoolean()) {
            lastProgress = time;
        }
        longestStall = Math.max(longestStall, time - lastProgress);
        milestone = now;
        done = found;
    }

    private synchronized void see(String claim) {
        claimsSeenAt.putIfAbsent(claim, System.nanoTime());
    }

    private static int count(Path directory) {
        return (int)
                names(directory).stream().filter(name -> !Layout.isHidden(name)).count();
    }

    private static List<String> names(Path directory) {
        String[] names = directory.toFile().list();
        return names == null ? List.of() : List.of(names);
    }

    private static String read(Path file) {
        try {
            return Files.readString(file).replace(" ", "");
        } catch (IOException absent) {
            return "";
        }
    }

    @Override
    public void close() throws InterruptedException {
        closed = true;
        thread.join();
    }
}
