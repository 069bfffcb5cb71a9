package dev.caravan.finalize;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.caravan.shard.MergeRecord;
import dev.caravan.shard.NodeIdentity;
import dev.caravan.shard.PartsIndex;
import dev.caravan.shard.PartsIndex.Part;
import dev.caravan.store.Json;
import dev.caravan.store.Layout;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class MergedPartsTest {
    private static final String FIRST = "{\"a\":1}\n{\"a\":2,\"t\":\"caf\u00e9\"}\n";
    private static final String THIRD = "{\"c\":1}\n";

    @TempDir
    Path folder;

    private FinishedJob job;

    @BeforeEach
    void finished() throws IOException {
        job = FinishedJob.inParts(folder, FIRST, "", THIRD);
    }

    private Path part(int index) {
        return Layout.part(job.output, job.id(index));
    }

    private static List<String> names(Path directory) throws IOException {
        try (Stream<Path> entries = Files.list(directory)) {
            return entries.map(path -> path.getFileName().toString()).sorted().toList();
        }
    }

    private void assertWhole() throws IOException {
        assertThat(names(job.output.getParent())).containsExactly("merged");
        assertThat(names(job.output))
                .containsExactly(
                        "index.json",
                        "part-00000-of-00003.jsonl",
                        "part-00001-of-00003.jsonl",
                        "part-00002-of-00003.jsonl");
        assertThat(part(0)).hasContent(FIRST);
        assertThat(part(1)).isEmptyFile();
        assertThat(part(2)).hasContent(THIRD);
    }

    @Test
    void parts_lie_in_manifest_order_beside_an_index_with_the_checksum_of_them_all() throws IOException {
        MergeRecord record = job.merge();

        assertWhole();
        int bytes = FIRST.getBytes(StandardCharsets.UTF_8).length;
        String all = FinishedJob.sha256(FIRST + THIRD);
        assertThat(Json.parseWhole(Files.readAllBytes(Layout.index(job.output)), PartsIndex.class))
                .isEqualTo(new PartsIndex(
                        3,
                        bytes + THIRD.length(),
                        all,
                        List.of(
                                new Part("part-00000-of-00003.jsonl", 2, bytes, FinishedJob.sha256(FIRST)),
                                new Part("part-00001-of-00003.jsonl", 0, 0, FinishedJob.sha256("")),
                                new Part("part-00002-of-00003.jsonl", 1, THIRD.length(), FinishedJob.sha256(THIRD)))));
        MergeRecord oneFile = FinishedJob.in(Files.createDirectory(folder.resolve("one")), FIRST, "", THIRD)
                .merge();
        assertThat(record.sha256()).isEqualTo(oneFile.sha256()).isEqualTo(all);
        assertThat(record.output()).isEqualTo(job.output.toString());
        assertThat(Verifier.verify(job.files, Verifier.Options.ALL).findings()).isEmpty();
    }

    @Test
    void a_merge_that_was_killed_after_the_publication_is_taken_over_without_another_one() throws IOException {
        MergeRecord record = job.merge();
        Object before = Files.readAttributes(job.output, "unix:ino,ctime");

        assertThat(job.merge()).isEqualTo(record);
        Files.delete(job.layout.mergeRecord());
        assertThat(job.merge().sha256()).isEqualTo(record.sha256());

        assertThat(Files.readAttributes(job.output, "unix:ino,ctime")).isEqualTo(before);
        assertThat(job.files.merged()).isPresent();
    }

    @Test
    void an_owner_that_loses_the_role_publishes_nothing() throws IOException {
        int questions = 0;
        while (true) {
            AtomicInteger left = new AtomicInteger(questions++);
            MergeRequest request =
                    new MergeRequest(job.files, job.output, false, "node-m", () -> left.getAndDecrement() > 0);
            try {
                job.merge(request);
                break;
            } catch (MergeException lost) {
                assertThat(lost).hasMessageContaining("lost the role finalize");
                assertThat(job.files.merged())
                        .as("lost at question %d", questions)
                        .isEmpty();
                if (Files.exists(job.output)) {
                    assertWhole();
                } else {
                    assertThat(names(job.output.getParent())).isEmpty();
                }
            }
        }
        assertThat(questions).isGreaterThan(7);
        assertWhole();
    }

    @Test
    void what_a_killed_merge_left_goes_and_what_others_write_stays() throws IOException {
        Files.createDirectories(job.output.getParent());
        Path left = Files.createDirectory(job.output.resolveSibling(".caravan-" + Merger.maker(job.files) + "-0000"));
        Files.writeString(left.resolve("part-00000-of-00003.jsonl"), FIRST);
        Path foreign = Files.createDirectory(job.output.resolveSibling(".caravan-0123456789abcdef-x"));

        job.merge();

        assertThat(left).doesNotExist();
        assertThat(foreign).exists();
    }

    @Test
    void of_many_mergers_at_once_none_spoils_the_folder() throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(8);
        try {
            List<Callable<MergeRecord>> mergers = new ArrayList<>();
            for (int i = 0; i < 8; i++) {
                mergers.add(job::merge);
            }
            for (Future<MergeRecord> merger : pool.invokeAll(mergers)) {
                try {
                    merger.get();
                } catch (ExecutionException removed) {
                    assertThat(removed).cause().isInstanceOf(MergeException.class);
                }
            }
        } finally {
            pool.shutdownNow();
        }
        job.merge();
        assertWhole();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void a_folder_that_is_not_the_result_stays_as_it_is(boolean overwrite) throws IOException {
        Files.createDirectories(job.output);
        Path other = Files.writeString(job.output.resolve("part-00000-of-00003.jsonl"), "{}\n");

        assertThatThrownBy(() -> job.merge(job.request(overwrite)))
                .isInstanceOf(MergeException.class)
                .hasMessageContaining("exists and is not this job's result")
                .hasMessageEndingWith("move it away or choose another --output");

        assertThat(names(job.output)).containsExactly("part-00000-of-00003.jsonl");
        assertThat(other).hasContent("{}");
        assertThat(job.files.merged()).isEmpty();
    }

    @Test
    void a_result_that_was_changed_is_not_published() throws IOException {
        FinishedJob.replaceIn(job.result(0), "1", "7");

        assertThatThrownBy(job::merge)
                .isInstanceOf(MergeException.class)
                .hasMessageContaining("the result of part-00000-of-00003 was changed after it was recorded");
        assertThat(names(job.output.getParent())).isEmpty();
    }

    @Test
    void every_flipped_byte_of_a_part_or_of_the_index_is_found_and_located() throws IOException {
        job.merge();
        for (Path file : List.of(part(0), part(2), Layout.index(job.output))) {
            byte[] sound = Files.readAllBytes(file);
            Files.delete(file); // a link to the result
            for (int at = 0; at < sound.length; at++) {
                byte[] flipped = sound.clone();
                flipped[at] ^= 1;
                Files.write(file, flipped);
                assertThat(Verifier.verify(job.files, Verifier.Options.ALL).findings())
                        .as("byte %d of %s", at, file)
                        .extracting(Verification.Finding::file)
                        .containsExactly(file.toString());
            }
            Files.write(file, sound);
        }
        assertThat(Verifier.verify(job.files, Verifier.Options.ALL).ok()).isTrue();
    }

    @Test
    void a_part_that_is_gone_and_a_file_that_does_not_belong_there_are_found() throws IOException {
        job.merge();
        Files.delete(part(2));
        Path foreign = Files.writeString(job.output.resolve("part-00003-of-00003.jsonl"), "{}\n");

        assertThat(Verifier.verify(job.files, Verifier.Options.ALL).findings())
                .extracting(Verification.Finding::file)
                .containsExactlyInAnyOrder(part(2).toString(), foreign.toString());
        assertThat(new Cleanup(job.files, Clock.systemUTC()).judge(Duration.ZERO))
                .as("the result may be the only one")
                .isInstanceOf(Cleanup.Verdict.Kept.class);
    }

    @Test
    void parts_outlive_the_attempts_they_came_from() throws IOException {
        job.merge();
        Cleanup cleanup = new Cleanup(job.files, Clock.systemUTC());
        assertThat(cleanup.judge(Duration.ZERO)).isInstanceOf(Cleanup.Verdict.Removable.class);

        cleanup.remove(new NodeIdentity("node-c", "host-c", 1));

        assertThat(job.layout.attempts()).doesNotExist();
        assertWhole();
    }
}
