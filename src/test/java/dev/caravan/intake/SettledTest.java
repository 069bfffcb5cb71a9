package dev.caravan.intake;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.time.Duration;
import org.apache.camel.component.file.GenericFile;
import org.junit.jupiter.api.Test;

class SettledTest {
    private long now = -5;
    private final Settled settled = new Settled(Duration.ofNanos(100), () -> now);

    private static GenericFile<File> file(String name, long size, long modified) {
        GenericFile<File> file = new GenericFile<>();
        file.setAbsoluteFilePath(name);
        file.setFileLength(size);
        file.setLastModified(modified);
        return file;
    }

    @Test
    void a_file_passes_once_it_was_unchanged_for_the_whole_time() {
        assertThat(settled.accept(file("a", 1, 1))).isFalse();
        now += 99;
        assertThat(settled.accept(file("a", 1, 1))).isFalse();
        now += 1;
        assertThat(settled.accept(file("a", 1, 1))).isTrue();
        assertThat(settled.accept(file("a", 1, 1))).as("again").isTrue();
    }

    @Test
    void another_size_or_time_starts_anew() {
        settled.accept(file("a", 1, 1));
        now += 100;
        assertThat(settled.accept(file("a", 2, 1))).isFalse();
        now += 100;
        assertThat(settled.accept(file("a", 2, 2))).isFalse();
        now += 100;
        assertThat(settled.accept(file("a", 2, 2))).isTrue();
    }

    @Test
    void files_settle_side_by_side() {
        settled.accept(file("a", 1, 1));
        settled.accept(file("b", 1, 1));
        now += 100;
        assertThat(settled.accept(file("b", 2, 2))).isFalse();
        assertThat(settled.accept(file("a", 1, 1))).isTrue();
    }
}
