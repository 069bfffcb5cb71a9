package dev.caravan.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.caravan.store.SharedDirectory;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What the model does that a disk does not: the simulation proves nothing if these faults do not happen. */
class ModelDirectoryTest {
    private static final Path DIRECTORY = Path.of("/shared");
    private static final Path FILE = DIRECTORY.resolve("fact");
    private static final Duration LATE = Duration.ofSeconds(30);
    private static final int CASES = 200;

    private long now;

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private ModelDirectory directory(Lateness lateness) {
        ModelDirectory directory = new ModelDirectory(() -> now, lateness, ModelDirectory.Changes.IGNORED);
        directory.makeDirectory(DIRECTORY);
        return directory;
    }

    private static Lateness late(long seed, Duration names, Duration content, Duration absence, Duration attributes) {
        return new Lateness(seed, names, content, absence, Duration.ZERO, attributes);
    }

    private interface Case {
        boolean isLate(long seed) throws IOException;
    }

    /** It happens in some of the cases and not in all of them. */
    private void happensSometimes(Case one) throws IOException {
        int late = 0;
        for (long seed = 0; seed < CASES; seed++) {
            now = 0;
            late += one.isLate(seed) ? 1 : 0;
        }
        assertThat(late).isBetween(CASES / 10, CASES - CASES / 10);
    }

    @Test
    void a_new_name_is_seen_late_but_taken_at_once() throws IOException {
        happensSometimes(seed -> {
            ModelDirectory directory = directory(late(seed, LATE, Duration.ZERO, Duration.ZERO, Duration.ZERO));
            SharedDirectory mine = directory.mount(1, Network.PERFECT);
            SharedDirectory other = directory.mount(2, Network.PERFECT);
            mine.publish(FILE, bytes("mine"));

            assertThat(mine.exists(FILE)).isTrue();
            assertThat(other.publish(FILE, bytes("other"))).isFalse();
            now = Duration.ofSeconds(1).toNanos();
            boolean late = !other.exists(FILE);
            now = LATE.toNanos();
            assertThat(other.exists(FILE)).isTrue();
            return late;
        });
    }

    @Test
    void what_was_looked_for_in_vain_stays_absent_for_a_while() throws IOException {
        happensSometimes(seed -> {
            ModelDirectory directory = directory(late(seed, Duration.ZERO, Duration.ZERO, LATE, Duration.ZERO));
            SharedDirectory mine = directory.mount(1, Network.PERFECT);
            SharedDirectory other = directory.mount(2, Network.PERFECT);
            assertThat(other.readIfPresent(FILE)).isEmpty();
            mine.publish(FILE, bytes("mine"));

            boolean absent = other.readIfPresent(FILE).isEmpty();
            now = LATE.toNanos();
            assertThat(other.readIfPresent(FILE)).isPresent();
            return absent;
        });
    }

    @Test
    void replaced_content_and_times_are_seen_late() throws IOException {
        happensSometimes(seed -> {
            ModelDirectory directory = directory(late(seed, Duration.ZERO, LATE, Duration.ZERO, Duration.ZERO));
            SharedDirectory mine = directory.mount(1, Network.PERFECT);
            SharedDirectory other = directory.mount(2, Network.PERFECT);
            mine.publish(FILE, bytes("old"));
            mine.replace(FILE, bytes("new"));

            boolean late = new String(other.readIfPresent(FILE).orElseThrow(), StandardCharsets.UTF_8).equals("old");
            now = LATE.toNanos();
            assertThat(other.readIfPresent(FILE).orElseThrow()).isEqualTo(bytes("new"));
            return late;
        });
    }

    @Test
    void a_time_is_remembered_until_the_file_is_opened() throws IOException {
        happensSometimes(seed -> {
            ModelDirectory directory = directory(late(seed, Duration.ZERO, Duration.ZERO, Duration.ZERO, LATE));
            SharedDirectory mine = directory.mount(1, Network.PERFECT);
            SharedDirectory other = directory.mount(2, Network.PERFECT);
            mine.publish(FILE, bytes("mine"));
            FileTime before = other.lastModified(FILE);
            FileTime beat = FileTime.fromMillis(before.toMillis() + 10_000);
            mine.touch(FILE, beat);

            boolean remembered = other.lastModified(FILE).equals(before);
            other.readIfPresent(FILE);
            assertThat(other.lastModified(FILE)).isEqualTo(beat);
            return remembered;
        });
    }

    @Test
    void a_lost_answer_to_a_publication_that_succeeded_is_an_error_or_asked_again() throws IOException {
        ModelDirectory directory = directory(Lateness.NONE);
        SharedDirectory asking = directory.mount(1, losing(Network.Answer.ASKED_AGAIN));
        assertThat(asking.publish(FILE, bytes("mine"))).isTrue();

        Path second = DIRECTORY.resolve("second");
        SharedDirectory failing = directory.mount(1, losing(null));
        assertThatThrownBy(() -> failing.publish(second, bytes("mine"))).isInstanceOf(IOException.class);
        assertThat(directory.truth(second)).isEqualTo(bytes("mine"));
        assertThat(directory.trueNames(DIRECTORY)).containsExactly("fact", "second");
    }

    private static Network losing(Network.@Nullable Answer answer) {
        return new Network() {
            @Override
            public void ask(Op op, Path path) {}

            @Override
            public Answer answer(Op op, Path path) throws IOException {
                if (op != Op.LINK) {
                    return Answer.ARRIVES;
                }
                if (answer == null) {
                    throw new IOException("lost");
                }
                return answer;
            }
        };
    }

    @Test
    void there_is_no_file_where_there_is_no_directory_and_no_time_where_there_is_no_file() {
        SharedDirectory mount = directory(Lateness.NONE).mount(1, Network.PERFECT);

        assertThatThrownBy(() -> mount.publish(Path.of("/none/fact"), bytes("x")))
                .isInstanceOf(NoSuchFileException.class);
        assertThatThrownBy(() -> mount.touch(FILE, FileTime.fromMillis(1))).isInstanceOf(NoSuchFileException.class);
        assertThatThrownBy(() -> mount.lastModified(FILE)).isInstanceOf(NoSuchFileException.class);
    }
}
