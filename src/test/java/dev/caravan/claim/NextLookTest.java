package dev.caravan.claim;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class NextLookTest {
    private static final long POLL = Duration.ofSeconds(2).toNanos();

    private final AtomicLong clock = new AtomicLong();
    private final NextLook next = new NextLook(clock::get);

    private long waitAfter(Duration idle) {
        clock.set(idle.toNanos());
        return Duration.ofNanos(next.waitNanos(POLL)).toMillis();
    }

    @Test
    void a_node_that_has_work_waits_for_its_poll() {
        next.busy();

        assertThat(waitAfter(Duration.ofHours(1))).isEqualTo(2000);
        assertThat(next.idleNanos()).isZero();
    }

    @Test
    void a_node_waits_the_longer_the_longer_it_has_been_idle() {
        assertThat(waitAfter(Duration.ZERO)).isEqualTo(200);
        assertThat(waitAfter(Duration.ofSeconds(3))).isEqualTo(750);
        next.idle();
        assertThat(waitAfter(Duration.ofSeconds(4))).isEqualTo(1000);
        assertThat(waitAfter(Duration.ofHours(1))).isEqualTo(2000);
        assertThat(next.idleNanos()).isEqualTo(Duration.ofHours(1).toNanos());

        next.busy();
        next.idle();
        assertThat(next.waitNanos(POLL)).isEqualTo(Duration.ofMillis(200).toNanos());
    }

    @Test
    void news_end_the_wait_also_if_they_came_before_it() throws InterruptedException {
        long seen = next.news();
        next.tellNews();
        next.await(seen, Duration.ofHours(1).toMillis());

        long known = next.news();
        CompletableFuture<Void> waiting = CompletableFuture.runAsync(() -> {
            try {
                next.await(known, Duration.ofHours(1).toMillis());
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        });
        next.tellNews();

        waiting.join();
        assertThat(next.news()).isEqualTo(2);
    }
}
