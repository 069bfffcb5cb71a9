package dev.caravan.lease;

import static org.assertj.core.api.Assertions.assertThat;

import dev.caravan.Eventually;
import dev.caravan.FakeNanos;
import dev.caravan.shard.ClaimStatus;
import dev.caravan.shard.NodeIdentity;
import dev.caravan.shard.Spent;
import dev.caravan.shard.Timing;
import dev.caravan.store.LeaseStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HeartTest {
    private static final Timing FAST =
            new Timing(Duration.ofMillis(800), Duration.ofMillis(50), Duration.ofMillis(300));

    @TempDir
    Path directory;

    private HeldLease claim(Heart heart, String key) throws IOException {
        return new Leases(
                        new LeaseStore(directory),
                        heart,
                        new NodeIdentity("me", "h", 1),
                        new RetryPace(Duration.ZERO, Duration.ZERO, Duration.ZERO))
                .claim(key, new Verdict.Claimable(1, Spent.NOTHING, List.of(), null), token -> null)
                .orElseThrow();
    }

    private FileTime beatOf(String key) throws IOException {
        return Files.getLastModifiedTime(directory.resolve(key + ".1.lock"));
    }

    @Test
    void the_heart_beats_for_all_leases() throws Exception {
        try (Heart heart = Heart.beating(FAST, System::nanoTime)) {
            claim(heart, "a");
            claim(heart, "b");
            Set<FileTime> a = new HashSet<>();
            Set<FileTime> b = new HashSet<>();
            Eventually.until("ten beats of each", () -> {
                a.add(beatOf("a"));
                b.add(beatOf("b"));
                return a.size() > 10 && b.size() > 10;
            });
        }
    }

    @Test
    void the_heart_fences_a_lease_whose_beats_fail() throws Exception {
        try (Heart heart = Heart.beating(FAST, System::nanoTime)) {
            HeldLease lease = claim(heart, "s");
            CountDownLatch lost = new CountDownLatch(1);
            lease.onLost(lost::countDown);
            Files.delete(directory.resolve("s.1.lock"));

            assertThat(lost.await(30, TimeUnit.SECONDS)).isTrue();
            assertThat(lease.isHeld()).isFalse();
        }
    }

    @Test
    void a_beat_that_hangs_does_not_keep_the_heart_from_fencing() throws Exception {
        FakeNanos clock = new FakeNanos();
        AtomicBoolean hang = new AtomicBoolean();
        CountDownLatch hanging = new CountDownLatch(1);
        CountDownLatch mountIsBack = new CountDownLatch(1);
        LongSupplier clockOfAHungMount = () -> {
            if (hang.get() && Thread.currentThread().getName().equals("lease-beat")) {
                hanging.countDown();
                try {
                    mountIsBack.await();
                } catch (InterruptedException closing) {
                    Thread.currentThread().interrupt();
                }
            }
            return clock.getAsLong();
        };
        try (Heart heart = Heart.beating(FAST, clockOfAHungMount)) {
            HeldLease lease = claim(heart, "s");
            CountDownLatch lost = new CountDownLatch(1);
            lease.onLost(lost::countDown);
            hang.set(true);
            assertThat(hanging.await(30, TimeUnit.SECONDS)).isTrue();
            clock.pass(FAST.ownersPatience());

            assertThat(lost.await(30, TimeUnit.SECONDS)).isTrue();
            mountIsBack.countDown();
        }
    }

    @Test
    void a_lease_that_has_ended_is_neither_beaten_for_nor_judged() throws Exception {
        FakeNanos clock = new FakeNanos();
        try (Heart heart = Heart.beating(FAST, clock)) {
            HeldLease ended = claim(heart, "ended");
            AtomicBoolean told = new AtomicBoolean();
            ended.onLost(() -> told.set(true));
            ended.end(ClaimStatus.DONE, null, null);
            FileTime last = beatOf("ended");
            for (int round = 0; round < 2; round++) { // the second round began after the first was over
                String key = "canary" + round;
                HeldLease canary = claim(heart, key);
                CountDownLatch lost = new CountDownLatch(1);
                canary.onLost(lost::countDown);
                FileTime before = beatOf(key);
                Eventually.until("a beat", () -> !beatOf(key).equals(before));
                clock.pass(FAST.ownersPatience());
                assertThat(lost.await(30, TimeUnit.SECONDS)).isTrue();
            }
            assertThat(told).isFalse();
            assertThat(beatOf("ended")).isEqualTo(last);
        }
    }
}
