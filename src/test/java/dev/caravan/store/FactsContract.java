package dev.caravan.store;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What the protocol needs of a directory of facts; every implementation, real or model, passes the same tests. */
public interface FactsContract {
    int THREADS = 8;

    /** One directory, empty at first. */
    interface Facts {
        boolean publish(String name, byte[] content) throws IOException;

        void replace(String name, byte[] content) throws IOException;

        byte @Nullable [] readIfPresent(String name) throws IOException;

        /** Everything there is, hidden names too. */
        List<String> names() throws IOException;
    }

    Facts facts();

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static @Nullable String text(byte @Nullable [] content) {
        return content == null ? null : new String(content, StandardCharsets.UTF_8);
    }

    @Test
    default void a_fact_is_published_with_its_content() throws IOException {
        Facts facts = facts();

        assertThat(facts.readIfPresent("fact")).isNull();
        assertThat(facts.publish("fact", bytes("mine"))).isTrue();
        assertThat(text(facts.readIfPresent("fact"))).isEqualTo("mine");
        assertThat(facts.names()).containsExactly("fact");
    }

    @Test
    default void the_first_fact_stands() throws IOException {
        Facts facts = facts();
        facts.publish("fact", bytes("first"));

        assertThat(facts.publish("fact", bytes("second"))).isFalse();
        assertThat(text(facts.readIfPresent("fact"))).isEqualTo("first");
        assertThat(facts.names()).containsExactly("fact");
    }

    @Test
    default void a_publication_whose_answer_was_lost_is_ours_when_asked_again() throws IOException {
        Facts facts = facts();
        facts.publish("fact", bytes("token-1"));

        assertThat(facts.publish("fact", bytes("token-1"))).isTrue();
        assertThat(facts.names()).containsExactly("fact");
    }

    @Test
    default void of_many_who_publish_at_once_one_wins() throws Exception {
        Facts facts = facts();
        for (int round = 0; round < 50; round++) {
            String name = "fact-" + round;
            List<Boolean> won = atOnce(thread -> facts.publish(name, bytes("by " + thread)));

            assertThat(won).containsOnlyOnce(true);
            assertThat(text(facts.readIfPresent(name))).isEqualTo("by " + won.indexOf(true));
        }
        assertThat(facts.names()).hasSize(50).allMatch(name -> name.startsWith("fact-"));
    }

    @Test
    default void a_fact_is_complete_before_it_has_its_name() throws Exception {
        Facts facts = facts();
        byte[] content = new byte[16_000_000]; // takes long enough to be seen unfinished
        Arrays.fill(content, (byte) 'x');
        for (int round = 0; round < 12; round++) {
            String name = "fact-" + round;
            List<Boolean> whole = atOnce(thread -> {
                if (thread == 0) {
                    return facts.publish(name, content);
                }
                byte[] read;
                do {
                    read = facts.readIfPresent(name);
                } while (read == null);
                return Arrays.equals(read, content);
            });
            assertThat(whole).containsOnly(true);
        }
    }

    @Test
    default void readers_of_a_replaced_fact_see_the_old_or_the_new_content_whole() throws Exception {
        Facts facts = facts();
        facts.replace("fact", filled('a'));
        int replacements = 200;
        List<Set<String>> seen = atOnce(thread -> {
            Set<String> contents = new HashSet<>();
            if (thread == 0) {
                for (int i = 0; i < replacements; i++) {
                    facts.replace("fact", filled((char) ('b' + i % 20)));
                }
                facts.replace("fact", filled('z'));
                return contents;
            }
            String last = "";
            while (!last.startsWith("z")) {
                last = text(facts.readIfPresent("fact"));
                contents.add(last == null ? "absent" : last.replaceAll("^(.)\\1{49999}$", "whole"));
                last = last == null ? "" : last;
            }
            return contents;
        });
        seen.stream().skip(1).forEach(contents -> assertThat(contents).containsExactly("whole"));
        assertThat(facts.names()).containsExactly("fact");
    }

    private static byte[] filled(char with) {
        return bytes(String.valueOf(with).repeat(50_000));
    }

    /** What one of several threads does. */
    interface Doing<T> {
        T by(int thread) throws Exception;
    }

    /** Lets all threads begin at the same moment. @return what each returned, in order */
    static <T> List<T> atOnce(Doing<T> doing) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(THREADS);
        try {
            CyclicBarrier start = new CyclicBarrier(THREADS);
            List<Callable<T>> calls = new ArrayList<>();
            for (int thread = 0; thread < THREADS; thread++) {
                int number = thread;
                calls.add(() -> {
                    start.await();
                    return doing.by(number);
                });
            }
            List<T> results = new ArrayList<>();
            for (Future<T> future : threads.invokeAll(calls)) {
                results.add(future.get());
            }
            return results;
        } finally {
            threads.shutdownNow();
        }
    }
}
