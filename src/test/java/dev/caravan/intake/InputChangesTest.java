package dev.caravan.intake;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Somebody writes to the input while a job is prepared. */
class InputChangesTest {
    private interface Change {
        void make() throws IOException;
    }

    private static final String BETWEEN = "Input changed between the scan and write passes: ";

    @TempDir
    Path folder;

    private Scene scene;
    private Path a;
    private Path b;
    private Path packed;
    private long size;

    @BeforeEach
    void setUp() throws IOException {
        scene = new Scene(folder.toRealPath());
        a = scene.write("a.jsonl", "{\"i\":0}\n{\"i\":1}\n");
        b = scene.write("b.jsonl", "{\"i\":2}\n{\"i\":3}\n");
        packed = scene.writePacked("packed.jsonl.gz", "{}\n");
        size = 32 + Files.size(packed);
    }

    @Test
    void content_with_the_same_size_and_time_is_found() throws IOException {
        FileTime time = Files.getLastModifiedTime(b);
        betweenPasses(() -> {
            Files.writeString(b, "{\"i\":2}\n{\"i\":9}\n");
            Files.setLastModifiedTime(b, time);
        });

        refuses(BETWEEN + b + " (size 16, then 16; ");
    }

    @Test
    void a_time_that_changed_is_found() throws IOException {
        betweenPasses(() -> Files.setLastModifiedTime(a, FileTime.fromMillis(1_000_000)));

        refuses(BETWEEN + a);
    }

    @Test
    void more_records_are_found() throws IOException {
        betweenPasses(() -> Files.writeString(a, "{}\n".repeat(50), StandardOpenOption.APPEND));

        refuses(BETWEEN + a + " (size 16, then 166; ");
    }

    @Test
    void fewer_records_are_found() throws IOException {
        betweenPasses(() -> Files.writeString(a, ""));

        refuses(BETWEEN + a + " (size 16, then 0; ");
    }

    @Test
    void a_line_that_became_bad_is_found() throws IOException {
        betweenPasses(() -> Files.writeString(a, "{\"i\":0}\n{\"i\":x}\n"));

        refuses(BETWEEN + a);
    }

    @Test
    void a_new_file_is_found() throws IOException {
        Path added = scene.input.resolve("c.jsonl");
        betweenPasses(() -> Files.writeString(added, "{}\n"));

        refuses(BETWEEN + "files gone: none; files added: " + added);
    }

    @Test
    void a_file_that_vanished_is_found() throws IOException {
        betweenPasses(() -> Files.delete(b));

        refuses("Input changed while it was read: " + b + " is gone");
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void a_file_that_grows_while_it_is_read_is_said_to_change_and_not_to_hold_half_a_record(boolean inTwoPasses)
            throws IOException {
        if (!inTwoPasses) {
            Files.delete(packed);
        }
        whileReading("{\"half\":");

        refuses("Input changed while it was read: " + b + " (size 6054000, then 6054008");
    }

    @Test
    void a_file_that_grows_by_whole_records_while_it_is_read_is_said_to_change() throws IOException {
        whileReading("{\"i\":4}\n");

        refuses("Input changed while it was read: " + b + " (size 6054000, then 6054008");
    }

    private void whileReading(String appended) throws IOException {
        scene.write("b.jsonl", ("{\"t\":\"" + "x".repeat(1000) + "\"}\n").repeat(6000));
        boolean[] done = {false};
        scene.progress = (read, total) -> {
            if (read > 4_000_000 && !done[0]) {
                done[0] = true;
                write(() -> Files.writeString(b, appended, StandardOpenOption.APPEND));
            }
        };
    }

    private void refuses(String message) throws IOException {
        assertThatThrownBy(scene::prepare)
                .isInstanceOf(InputChangedException.class)
                .hasMessageStartingWith(message)
                .hasMessageEndingWith("Wait until nothing writes to the input any more, then prepare again");
        assertThat(scene.besideJob()).isEmpty();
    }

    /** The scan pass has read all bytes when progress says so for the last file's end. */
    private void betweenPasses(Change change) {
        boolean[] done = {false};
        scene.progress = (read, total) -> {
            if (read == size && Files.isDirectory(scene.job.path().getParent()) && !done[0]) {
                done[0] = true;
                write(change);
            }
        };
    }

    private static void write(Change change) {
        try {
            change.make();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }
}
