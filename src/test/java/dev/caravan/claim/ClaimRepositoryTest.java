package dev.caravan.claim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.caravan.Eventually;
import dev.caravan.lease.Leases;
import dev.caravan.shard.ClaimStatus;
import dev.caravan.shard.NodeIdentity;
import dev.caravan.store.LeaseStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.camel.CamelContext;
import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.impl.DefaultCamelContext;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(120)
class ClaimRepositoryTest {
    @TempDir
    Path folder;

    private Path locks;
    private final List<CamelContext> nodes = new ArrayList<>();

    @BeforeEach
    void locks() throws IOException {
        locks = Files.createDirectory(folder.resolve("locks"));
    }

    @AfterEach
    void stop() {
        nodes.forEach(CamelContext::stop);
    }

    private ClaimRepository repository(String node) {
        return new ClaimRepository(new Leases(
                new LeaseStore(locks), SimulatedNode.heart(), new NodeIdentity(node, "h", 1), SimulatedNode.PACE));
    }

    private CamelContext node(String id, RouteBuilder routes) throws Exception {
        CamelContext context = new DefaultCamelContext();
        context.getRegistry().bind("claims", repository(id));
        context.addRoutes(routes);
        nodes.add(context);
        return context;
    }

    private ClaimStatus statusOf(String key, long epoch) throws IOException {
        return new LeaseStore(locks)
                .look(key, epoch)
                .orElseThrow()
                .claim()
                .orElseThrow()
                .status();
    }

    @Test
    void a_key_is_added_by_one_node() {
        ClaimRepository a = repository("a");
        ClaimRepository b = repository("b");

        assertThat(a.contains("k")).isFalse();
        assertThat(a.add("k")).isTrue();
        assertThat(a.add("k")).isFalse();
        assertThat(b.add("k")).isFalse();
        assertThat(b.contains("k")).isTrue();
        assertThat(b.add("other")).isTrue();
    }

    @Test
    void a_confirmed_key_is_taken_for_ever() throws IOException {
        ClaimRepository a = repository("a");
        a.add("k");

        assertThat(a.confirm("k")).isTrue();
        assertThat(statusOf("k", 1)).isEqualTo(ClaimStatus.DONE);
        assertThat(a.add("k")).isFalse();
        assertThat(repository("b").add("k")).isFalse();
        assertThat(a.confirm("k")).isFalse();
        assertThat(a.remove("k")).isFalse();
    }

    @Test
    void a_removed_key_is_free_in_the_next_epoch() throws IOException {
        ClaimRepository a = repository("a");
        ClaimRepository b = repository("b");
        a.add("k");

        assertThat(a.remove("k")).isTrue();
        assertThat(statusOf("k", 1)).isEqualTo(ClaimStatus.RELEASED);
        assertThat(b.contains("k")).isFalse();
        assertThat(b.add("k")).isTrue();
        assertThat(statusOf("k", 2)).isEqualTo(ClaimStatus.RUNNING);
    }

    @Test
    void removing_what_another_node_holds_does_nothing() throws IOException {
        repository("a").add("k");

        assertThat(repository("b").remove("k")).isFalse();
        assertThat(statusOf("k", 1)).isEqualTo(ClaimStatus.RUNNING);
    }

    @Test
    void stopping_gives_back_what_this_node_holds_and_nothing_else() throws IOException {
        ClaimRepository a = repository("a");
        ClaimRepository b = repository("b");
        a.start();
        a.add("mine");
        b.add("theirs");
        a.stop();

        assertThat(statusOf("mine", 1)).isEqualTo(ClaimStatus.RELEASED);
        assertThat(statusOf("theirs", 1)).isEqualTo(ClaimStatus.RUNNING);
    }

    @Test
    void a_key_that_is_no_file_name_is_refused() {
        assertThatThrownBy(() -> repository("a").add(folder.resolve("file").toString()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("idempotentKey=${file:name}");
        assertThatThrownBy(() -> repository("a").add(".hidden")).isInstanceOf(IllegalArgumentException.class);
        assertThat(locks).isEmptyDirectory();
    }

    @Test
    void an_idempotent_consumer_lets_each_message_through_on_one_of_three_nodes() throws Exception {
        Queue<String> through = new ConcurrentLinkedQueue<>();
        RouteBuilder route = new RouteBuilder() {
            @Override
            public void configure() {
                from("direct:in")
                        .idempotentConsumer(body())
                        .idempotentRepository("claims")
                        .process(exchange -> through.add(exchange.getMessage().getBody(String.class)));
            }
        };
        List<Thread> senders = new ArrayList<>();
        for (String id : List.of("a", "b", "c")) {
            CamelContext node = node(id, route);
            node.start();
            senders.add(new Thread(() -> {
                for (int i = 0; i < 40; i++) {
                    node.createProducerTemplate().sendBody("direct:in", "message-" + i);
                }
            }));
        }
        senders.forEach(Thread::start);
        for (Thread sender : senders) {
            sender.join();
        }
        assertThat(through).hasSize(40).doesNotHaveDuplicates();
        for (int i = 0; i < 40; i++) {
            assertThat(statusOf("message-" + i, 1)).isEqualTo(ClaimStatus.DONE);
        }
    }

    @Test
    void a_message_that_failed_on_one_node_is_let_through_again() throws Exception {
        AtomicBoolean fail = new AtomicBoolean(true);
        Queue<String> through = new ConcurrentLinkedQueue<>();
        CamelContext node = node("a", new RouteBuilder() {
            @Override
            public void configure() {
                from("direct:in")
                        .idempotentConsumer(body())
                        .idempotentRepository("claims")
                        .process(exchange -> {
                            if (fail.get()) {
                                throw new IllegalStateException("planned");
                            }
                            through.add(exchange.getMessage().getBody(String.class));
                        });
            }
        });
        node.start();
        assertThatThrownBy(() -> node.createProducerTemplate().sendBody("direct:in", "m"))
                .hasRootCauseMessage("planned");
        fail.set(false);
        node.createProducerTemplate().sendBody("direct:in", "m");

        assertThat(through).containsExactly("m");
        assertThat(statusOf("m", 1)).isEqualTo(ClaimStatus.RELEASED);
        assertThat(statusOf("m", 2)).isEqualTo(ClaimStatus.DONE);
    }

    @Test
    void a_stock_file_route_on_three_nodes_processes_each_file_once() throws Exception {
        Path inbox = Files.createDirectory(folder.resolve("inbox"));
        int files = 60;
        for (int i = 0; i < files; i++) {
            Files.writeString(inbox.resolve("file-" + i + ".txt"), "content " + i);
        }
        Queue<String> processed = new ConcurrentLinkedQueue<>();
        RouteBuilder route = new RouteBuilder() {
            @Override
            public void configure() {
                from("file:" + inbox + "?noop=true&idempotent=false&idempotentEager=false&readLock=idempotent"
                                + "&idempotentRepository=#claims&idempotentKey=${file:name}"
                                + "&readLockLoggingLevel=OFF&initialDelay=0&delay=50")
                        .convertBodyTo(String.class)
                        .process(exchange -> processed.add(exchange.getMessage().getBody(String.class)));
            }
        };
        for (String id : List.of("a", "b", "c")) {
            node(id, route);
        }
        for (CamelContext node : nodes) {
            node.start();
        }
        LeaseStore store = new LeaseStore(locks);
        Eventually.until("all files are confirmed", () -> {
            if (store.highestEpochs().size() < files) {
                return false;
            }
            for (String key : store.highestEpochs().keySet()) {
                if (statusOf(key, 1) != ClaimStatus.DONE) {
                    return false;
                }
            }
            return true;
        });
        Files.writeString(inbox.resolve("last.txt"), "last"); // a whole poll later, nothing has come twice
        Eventually.until("the last file came", () -> processed.contains("last"));

        assertThat(processed).hasSize(files + 1).doesNotHaveDuplicates();
        assertThat(new HashSet<>(store.highestEpochs().values())).containsExactly(1L);
        assertThat(inbox.resolve("file-0.txt")).hasContent("content 0");
    }
}
