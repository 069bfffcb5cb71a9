package dev.caravan.intake;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.caravan.intake.Inbox.Reception;
import dev.caravan.job.CanonicalDescriptor;
import dev.caravan.job.DescriptorReader;
import dev.caravan.job.JobDescriptor;
import dev.caravan.shard.RoleResult;
import dev.caravan.store.GenerationFiles;
import dev.caravan.store.Layout;
import dev.caravan.store.StoreException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Timeout(120)
class InboxTest {
    @TempDir
    Path folder;

    private Layout.Root root;
    private Inbox inbox;

    @BeforeEach
    void root() throws IOException {
        root = new Layout.Root(folder.resolve("root"));
        inbox = new Inbox(root);
        Files.createDirectories(root.inbox());
        Files.createDirectories(root.jobs());
    }

    private static String descriptor(String name, int shards) {
        return "name: " + name + "\nengine: command\ncommand: [cp, '{input}', '{output}']\n"
                + "dataset_path: in.jsonl\nnum_shards: " + shards + "\n";
    }

    private JobDescriptor read(String yaml) {
        return DescriptorReader.read(yaml.getBytes(StandardCharsets.UTF_8), "test", root.path());
    }

    private Path drop(String file, String content) throws IOException {
        return Files.writeString(root.inbox().resolve(file), content);
    }

    private Reception receive(Path file) throws IOException {
        return inbox.receive(file.toString());
    }

    private Reception receive(String file, String content) throws IOException {
        return receive(drop(file, content));
    }

    private static List<String> namesIn(Path directory) throws IOException {
        if (!Files.exists(directory)) {
            return List.of();
        }
        try (Stream<Path> files = Files.list(directory)) {
            return files.filter(Files::isRegularFile)
                    .map(file -> file.getFileName().toString())
                    .sorted()
                    .toList();
        }
    }

    private byte[] askedFor(String job) throws IOException {
        return new GenerationFiles(inbox.currentGeneration(root.job(job)).orElseThrow())
                .descriptor()
                .orElseThrow();
    }

    private void endPrepare(String job, boolean ok) throws IOException {
        new GenerationFiles(inbox.currentGeneration(root.job(job)).orElseThrow())
                .publishPrepared(new RoleResult(ok, "n", "h", "now", ok ? null : "no such input"));
    }

    @Test
    void a_descriptor_becomes_a_job_and_leaves_the_inbox() throws IOException {
        assertThat(inbox.currentGeneration(root.job("j"))).isEmpty();
        JobDescriptor expected = read(descriptor("j", 2));

        assertThat(receive("any.yaml", descriptor("j", 2))).isEqualTo(new Reception.Accepted(expected));
        assertThat(askedFor("j")).isEqualTo(CanonicalDescriptor.bytes(expected));
        assertThat(namesIn(root.inbox())).isEmpty();
        assertThat(namesIn(root.accepted())).containsExactly("any.yaml");
        assertThat(expected.datasetPath())
                .isEqualTo(root.path().resolve("in.jsonl").toString());
    }

    @Test
    void the_same_content_again_changes_nothing_however_it_is_written() throws IOException {
        receive("j.yaml", descriptor("j", 2));
        byte[] asked = askedFor("j");

        assertThat(receive("j.yaml", "# again\n" + descriptor("j", 2))).isInstanceOf(Reception.AlreadyKnown.class);
        assertThat(receive("j.json", new String(asked, StandardCharsets.UTF_8)))
                .isInstanceOf(Reception.AlreadyKnown.class);
        assertThat(inbox.currentGeneration(root.job("j")))
                .contains(root.job("j").generation("inbox-0001"));
        assertThat(namesIn(root.inbox())).isEmpty();
    }

    @Test
    void other_content_under_the_name_of_a_job_is_rejected() throws IOException {
        receive("j.yaml", descriptor("j", 2));
        byte[] asked = askedFor("j");

        assertThat(receive("second.yaml", descriptor("j", 3))).isInstanceOfSatisfying(Reception.Rejected.class, it -> {
            assertThat(it.why())
                    .contains("job j exists already with other content")
                    .contains("choose another name");
        });
        assertThat(askedFor("j")).isEqualTo(asked);
        assertThat(namesIn(root.rejected())).containsExactly("second.yaml", "second.yaml.error.txt");
        assertThat(root.rejected().resolve("second.yaml")).hasContent(descriptor("j", 3));
        assertThat(root.rejected().resolve("second.yaml.error.txt")).content().contains("exists already");
    }

    @Test
    void a_bad_descriptor_is_rejected_with_all_its_problems() throws IOException {
        Reception reception = receive("bad.yaml", "name: j/k\nengine: comand\nnum_shards: 0\n");

        assertThat(reception).isInstanceOf(Reception.Rejected.class);
        assertThat(root.rejected().resolve("bad.yaml.error.txt"))
                .content()
                .contains("bad.yaml", "name", "engine", "num_shards");
        assertThat(namesIn(root.inbox())).isEmpty();
        assertThat(namesIn(root.jobs())).isEmpty();
    }

    @Test
    void a_file_that_another_node_took_is_gone() throws IOException {
        assertThat(receive(root.inbox().resolve("none.yaml"))).isEqualTo(new Reception.Gone());
    }

    @Test
    void eight_nodes_that_race_for_one_descriptor_make_one_job() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(8);
        try {
            for (int round = 0; round < 30; round++) {
                String name = "j" + round;
                Path file = drop(name + ".yaml", descriptor(name, 2));
                CyclicBarrier start = new CyclicBarrier(8);
                List<Callable<Reception>> nodes = new ArrayList<>();
                for (int node = 0; node < 8; node++) {
                    nodes.add(() -> {
                        start.await();
                        return new Inbox(root).receive(file.toString());
                    });
                }
                List<Reception> receptions = new ArrayList<>();
                for (Future<Reception> node : threads.invokeAll(nodes)) {
                    receptions.add(node.get());
                }
                assertThat(receptions).noneMatch(Reception.Rejected.class::isInstance);
                assertThat(receptions).anyMatch(Reception.Accepted.class::isInstance);
                assertThat(inbox.currentGeneration(root.job(name)))
                        .contains(root.job(name).generation("inbox-0001"));
                assertThat(namesIn(root.inbox())).isEmpty();
                assertThat(namesIn(root.accepted())).contains(name + ".yaml");
            }
        } finally {
            threads.shutdownNow();
        }
    }

    @Test
    void a_job_whose_prepare_failed_may_be_asked_for_again_even_otherwise() throws IOException {
        receive("j.yaml", descriptor("j", 2));
        endPrepare("j", false);

        assertThat(receive("j.yaml", descriptor("j", 2))).isInstanceOf(Reception.Accepted.class);
        assertThat(inbox.currentGeneration(root.job("j")))
                .contains(root.job("j").generation("inbox-0002"));
        endPrepare("j", false);
        assertThat(receive("j.yaml", descriptor("j", 7))).isInstanceOf(Reception.Accepted.class);
        assertThat(inbox.currentGeneration(root.job("j")))
                .contains(root.job("j").generation("inbox-0003"));
        assertThat(askedFor("j")).isEqualTo(CanonicalDescriptor.bytes(read(descriptor("j", 7))));
    }

    @Test
    void a_job_that_was_prepared_is_known() throws IOException {
        receive("j.yaml", descriptor("j", 2));
        endPrepare("j", true);

        assertThat(receive("j.yaml", descriptor("j", 2))).isInstanceOf(Reception.AlreadyKnown.class);
        assertThat(receive("j.yaml", descriptor("j", 3))).isInstanceOf(Reception.Rejected.class);
        assertThat(inbox.currentGeneration(root.job("j")))
                .contains(root.job("j").generation("inbox-0001"));
    }

    @Test
    void a_file_that_is_replaced_while_it_is_received_is_not_lost() throws Exception {
        ExecutorService threads = Executors.newSingleThreadExecutor();
        try {
            for (int round = 0; round < 150; round++) {
                Path file = drop("x.yaml", descriptor("old" + round, 2));
                Path replacement = Files.writeString(folder.resolve("new"), descriptor("new" + round, 2));
                CyclicBarrier start = new CyclicBarrier(2);
                Future<Reception> receiving = threads.submit(() -> {
                    start.await();
                    return receive(file);
                });
                start.await();
                for (int pause = 0; pause < round * 200; pause++) {
                    Thread.onSpinWait(); // another moment in each round
                }
                Files.move(replacement, file, StandardCopyOption.ATOMIC_MOVE);
                receiving.get();
                while (Files.exists(file)) {
                    receive(file);
                }
                assertThat(inbox.currentGeneration(root.job("new" + round)))
                        .as("round " + round)
                        .isPresent();
            }
        } finally {
            threads.shutdownNow();
        }
    }

    @Test
    void a_submitted_descriptor_is_received_as_it_was_meant() throws IOException {
        JobDescriptor asked = read(descriptor("j", 4));
        Path file = inbox.submit(asked);

        assertThat(file).isEqualTo(root.inbox().resolve("j.json"));
        assertThat(inbox.submit(asked)).isEqualTo(file);
        assertThat(receive(file)).isEqualTo(new Reception.Accepted(asked));
    }

    @Test
    void a_submission_does_not_replace_one_that_waits() throws IOException {
        Path file = inbox.submit(read(descriptor("j", 4)));

        assertThatThrownBy(() -> inbox.submit(read(descriptor("j", 5))))
                .isInstanceOf(StoreException.class)
                .hasMessageContaining(file + " waits in the inbox already with other content");
        assertThat(receive(file)).isEqualTo(new Reception.Accepted(read(descriptor("j", 4))));
    }

    @Test
    void a_new_submission_takes_back_the_explanation_of_the_last_rejection() throws IOException {
        receive("j.json", "{\"name\": \"j\"}");
        assertThat(namesIn(root.rejected())).contains("j.json.error.txt");
        inbox.submit(read(descriptor("j", 4)));

        assertThat(namesIn(root.rejected())).doesNotContain("j.json.error.txt");
    }

    @ParameterizedTest
    @CsvSource({
        "j.yaml, true",
        "j.yml, true",
        "J.JSON, true",
        ".j.yaml, false",
        "j.yaml.part, false",
        "j.txt, false",
        "yaml, false"
    })
    void descriptors_are_known_by_their_ending(String name, boolean expected) {
        assertThat(Inbox.isDescriptor(name)).isEqualTo(expected);
    }
}
