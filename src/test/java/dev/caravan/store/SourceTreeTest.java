package dev.caravan.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.caravan.store.SourceTree.Kind;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(20)
class SourceTreeTest {
    @TempDir
    Path folder;

    @Test
    void meets_every_file_of_deep_folders() throws IOException {
        Path deep = folder;
        for (int k = 0; k < 300; k++) {
            deep = deep.resolve("d" + k % 10);
        }
        Files.createDirectories(deep);
        Files.writeString(deep.resolve("x"), "");

        assertThat(SourceTree.of(folder)).singleElement().satisfies(entry -> {
            assertThat(entry.kind()).isEqualTo(Kind.FILE);
            assertThat(entry.path()).isEqualTo(folder.resolve(entry.relative()));
        });
    }

    @Test
    void the_folder_itself_may_be_a_link() throws IOException {
        Path real = Files.createDirectory(folder.resolve("real"));
        Files.writeString(real.resolve("x"), "");
        Path link = Files.createSymbolicLink(folder.resolve("link"), real);

        assertThat(SourceTree.of(link)).containsExactly(new SourceTree.Entry(link.resolve("x"), "x", true, Kind.FILE));
    }

    @Test
    void a_link_to_itself_is_a_broken_link() throws IOException {
        Files.createSymbolicLink(folder.resolve("loop"), folder.resolve("loop"));

        assertThat(SourceTree.of(folder)).extracting(SourceTree.Entry::kind).containsExactly(Kind.BROKEN_LINK);
    }

    @Test
    void a_pipe_is_neither_opened_nor_taken_for_a_file() throws Exception {
        assertThat(new ProcessBuilder("mkfifo", folder.resolve("p.jsonl").toString())
                        .start()
                        .waitFor())
                .isZero();

        assertThat(SourceTree.of(folder)).extracting(SourceTree.Entry::kind).containsExactly(Kind.SPECIAL);
    }

    @Test
    void a_stamp_holds_nanoseconds() throws IOException {
        Path file = Files.writeString(folder.resolve("x"), "abc");
        Files.setLastModifiedTime(file, FileTime.from(Instant.ofEpochSecond(1_700_000_000, 123_456_789)));

        assertThat(SourceTree.Stamp.of(file)).isEqualTo(new SourceTree.Stamp(3, 1_700_000_000_123_456_789L));
        assertThatThrownBy(() -> SourceTree.Stamp.of(folder.resolve("none"))).isInstanceOf(NoSuchFileException.class);
    }

    @Test
    void a_durable_output_is_a_new_file_with_all_bytes() throws IOException {
        Path file = folder.resolve("out");
        try (DurableOutput out = DurableOutput.create(file)) {
            out.write('a');
            out.write("xbcdy".getBytes(java.nio.charset.StandardCharsets.US_ASCII), 1, 3);
        }

        assertThat(file).hasContent("abcd");
        assertThatThrownBy(() -> DurableOutput.create(file)).isInstanceOf(FileAlreadyExistsException.class);
    }
}
