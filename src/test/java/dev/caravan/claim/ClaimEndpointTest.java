package dev.caravan.claim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.caravan.Eventually;
import dev.caravan.TestJob;
import dev.caravan.lease.Claimed;
import dev.caravan.lease.ClaimedShard;
import dev.caravan.shard.Claim;
import dev.caravan.shard.ClaimStatus;
import dev.caravan.shard.FailureClass;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.camel.Exchange;
import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.support.ScheduledPollEndpoint;
import org.apache.camel.test.junit5.CamelTestSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(120)
class ClaimEndpointTest extends CamelTestSupport {
    private static final int SHARDS = 6;

    @TempDir
    Path folder;

    private final Queue<Claimed> finished = new ConcurrentLinkedQueue<>();
    private final Map<String, Exchange> routed = new ConcurrentHashMap<>();
    private final NextLook nextLook = new NextLook(System::nanoTime);
    private TestJob job;

    @Override
    public boolean isUseRouteBuilder() {
        return false;
    }

    private interface Search {
        Optional<ClaimedShard> claimNext() throws IOException;
    }

    /** Gives each shard once, whatever becomes of it. */
    private void bindSource() throws IOException {
        job = TestJob.in(folder, SHARDS);
        SimulatedNode node = new SimulatedNode("a", job);
        AtomicInteger given = new AtomicInteger();
        bindSource("work", () -> given.getAndIncrement() < SHARDS ? node.claim() : Optional.empty());
    }

    private void bindSource(String name, Search search) {
        context.getRegistry().bind(name, new WorkSource() {
            @Override
            public Optional<ClaimedShard> claimNext() throws IOException {
                return search.claimNext();
            }

            @Override
            public NextLook nextLook() {
                return nextLook;
            }

            @Override
            public void finished(Claimed work) {
                finished.add(work);
            }
        });
    }

    private void run(String uri, org.apache.camel.Processor step) throws Exception {
        bindSource();
        context.addRoutes(new RouteBuilder() {
            @Override
            public void configure() {
                from(uri).process(exchange -> {
                    ClaimedShard shard = exchange.getMessage().getBody(ClaimedShard.class);
                    assertThat(routed.put(shard.shard().id().toString(), exchange.copy()))
                            .isNull();
                    step.process(exchange);
                });
            }
        });
        context.start();
        Eventually.until("all shards went through", () -> finished.size() == SHARDS);
    }

    private Claim claimOf(Claimed work) throws IOException {
        return job.files
                .locks()
                .look(work.lease().claim().key(), 1)
                .orElseThrow()
                .claim()
                .orElseThrow();
    }

    @Test
    void one_lease_is_one_exchange_that_tells_its_claim() throws Exception {
        run(
                "claim:shards?source=#work&delay=20",
                exchange -> exchange.getMessage()
                        .getBody(ClaimedShard.class)
                        .lease()
                        .end(ClaimStatus.DONE, null, null));

        assertThat(routed).hasSize(SHARDS);
        for (Claimed work : finished) {
            Claim claim = claimOf(work);
            Exchange exchange = routed.get(claim.key());
            assertThat(exchange.getProperty(ClaimConsumer.KEY)).isEqualTo(claim.key());
            assertThat(exchange.getProperty(ClaimConsumer.EPOCH)).isEqualTo(1L);
            assertThat(exchange.getProperty(ClaimConsumer.TOKEN)).isEqualTo(claim.token());
            assertThat(claim.status()).isEqualTo(ClaimStatus.DONE);
        }
    }

    @Test
    void slots_work_at_once() throws Exception {
        CyclicBarrier together = new CyclicBarrier(3);
        run("claim:shards?source=#work&slots=3&delay=20", exchange -> together.await(60, TimeUnit.SECONDS));

        assertThat(routed).hasSize(SHARDS);
        for (Claimed work : finished) {
            assertThat(claimOf(work).status()).isEqualTo(ClaimStatus.RELEASED); // and no barrier was broken
        }
    }

    @Test
    void a_lease_ahead_and_one_whose_result_is_published_have_consumers_of_their_own() throws Exception {
        CyclicBarrier together = new CyclicBarrier(3);
        run("claim:shards?source=#work&slots=1&prefetch=1&delay=20", exchange -> together.await(60, TimeUnit.SECONDS));

        assertThat(routed).hasSize(SHARDS);
        for (Claimed work : finished) {
            assertThat(claimOf(work).status()).isEqualTo(ClaimStatus.RELEASED); // and no barrier was broken
        }
    }

    @Test
    void a_single_slot_works_on_one_thing_at_a_time() throws Exception {
        AtomicInteger working = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        run("claim:shards?source=#work&delay=1", exchange -> {
            most.accumulateAndGet(working.incrementAndGet(), Math::max);
            Thread.yield();
            working.decrementAndGet();
        });
        assertThat(most).hasValue(1);
    }

    @Test
    void a_route_that_fails_ends_the_claim_as_failed() throws Exception {
        run("claim:shards?source=#work&delay=20", exchange -> {
            throw new IllegalStateException("planned");
        });
        for (Claimed work : finished) {
            Claim claim = claimOf(work);
            assertThat(claim.status()).isEqualTo(ClaimStatus.FAILED);
            assertThat(claim.failureClass()).isEqualTo(FailureClass.INFRA);
            assertThat(claim.reason()).contains("planned");
        }
    }

    @Test
    void a_route_that_ends_without_a_result_gives_the_claim_back() throws Exception {
        run("claim:shards?source=#work&delay=20", exchange -> {});
        for (Claimed work : finished) {
            assertThat(claimOf(work).status()).isEqualTo(ClaimStatus.RELEASED);
            assertThat(claimOf(work).reason()).isEqualTo("the route ended without a result");
        }
    }

    @Test
    void an_error_of_the_source_does_not_end_the_route() throws Exception {
        bindSource();
        SimulatedNode node = new SimulatedNode("b", job);
        AtomicInteger asked = new AtomicInteger();
        bindSource("flaky", () -> {
            if (asked.getAndIncrement() < 3) {
                throw new IOException("stale file handle");
            }
            return node.claim();
        });
        context.addRoutes(new RouteBuilder() {
            @Override
            public void configure() {
                from("claim:shards?source=#flaky&delay=20")
                        .process(exchange -> exchange.getMessage()
                                .getBody(ClaimedShard.class)
                                .lease()
                                .end(ClaimStatus.DONE, null, null));
            }
        });
        context.start();
        Eventually.until("it went on", () -> !finished.isEmpty());
    }

    @Test
    void who_found_nothing_looks_again_when_there_are_news() throws Exception {
        bindSource();
        SimulatedNode node = new SimulatedNode("b", job);
        AtomicInteger asked = new AtomicInteger();
        bindSource("late", () -> asked.getAndIncrement() > 0 ? node.claim() : Optional.empty());
        context.addRoutes(new RouteBuilder() {
            @Override
            public void configure() {
                from("claim:shards?source=#late&delay=1h").to("mock:out");
            }
        });
        context.start();
        Eventually.until("it has looked in vain", () -> asked.get() == 1);

        nextLook.tellNews();

        Eventually.until("it has looked again", () -> !finished.isEmpty());
    }

    private void assertRefused(String uri, String why) {
        assertThatThrownBy(() -> {
                    context.addRoutes(new RouteBuilder() {
                        @Override
                        public void configure() {
                            from(uri).to("mock:out");
                        }
                    });
                    context.start();
                })
                .hasStackTraceContaining(why);
    }

    @Test
    void a_source_that_does_not_exist_is_refused() {
        assertRefused("claim:shards?source=#nobody", "nobody");
    }

    @Test
    void an_endpoint_without_a_source_is_refused() {
        assertRefused("claim:shards", "needs a source, such as source=#shardWork");
    }

    @Test
    void no_slot_at_all_is_refused() throws IOException {
        bindSource();
        assertRefused("claim:shards?source=#work&slots=0", "slots must be 1 or more, not 0");
    }

    @Test
    void an_unknown_option_is_refused() throws IOException {
        bindSource();
        assertRefused("claim:shards?source=#work&slotz=2", "slotz");
    }

    @Test
    void work_cannot_be_sent_to_a_claim_endpoint() throws IOException {
        bindSource();
        context.start();
        assertThatThrownBy(() -> template.sendBody("claim:shards?source=#work", "x"))
                .hasStackTraceContaining("claim: endpoints give work, they take none");
    }

    @Test
    void a_delay_is_a_duration_and_polls_are_greedy() throws IOException {
        bindSource();
        ScheduledPollEndpoint endpoint =
                context.getEndpoint("claim:shards?source=#work&delay=2s", ScheduledPollEndpoint.class);

        assertThat(endpoint.getDelay()).isEqualTo(2_000);
        assertThat(endpoint.isGreedy()).isTrue();
    }
}
