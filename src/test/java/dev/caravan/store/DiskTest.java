package dev.caravan.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.URI;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystem;
import java.nio.file.FileSystemException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The contract on the local file system, and what only a real file system can show. */
class DiskTest implements FactsContract {
    @TempDir
    Path folder;

    private Path target;

    @BeforeEach
    void target() {
        target = folder.resolve("fact");
    }

    @Override
    public Facts facts() {
        return new Facts() {
            @Override
            public boolean publish(String name, byte[] content) throws IOException {
                return Disk.publish(folder.resolve(name), content);
            }

            @Override
            public void replace(String name, byte[] content) throws IOException {
                Disk.replace(folder.resolve(name), content);
            }

            @Override
            public byte[] readIfPresent(String name) throws IOException {
                return Disk.readIfPresent(folder.resolve(name)).orElse(null);
            }

            @Override
            public java.util.List<String> names() throws IOException {
                return Disk.list(folder);
            }
        };
    }

    @Test
    void a_published_fact_is_one_file_with_one_name() throws IOException {
        Disk.publish(target, bytes("x"));

        assertThat(Files.getAttribute(target, "unix:nlink")).isEqualTo(1);
    }

    @Test
    void what_cannot_be_published_leaves_nothing() throws IOException {
        assertThatThrownBy(() -> Disk.publish(folder.resolve("missing/fact"), bytes("x")))
                .isInstanceOf(NoSuchFileException.class);
        assertThat(Disk.list(folder)).isEmpty();
    }

    @Test
    void what_cannot_be_replaced_leaves_nothing() throws IOException {
        Files.createDirectories(target.resolve("taken"));

        assertThatThrownBy(() -> Disk.replace(target, bytes("x"))).isInstanceOf(IOException.class);
        assertThat(Disk.list(folder)).containsExactly("fact");
    }

    /** A mount that can link, and fails once with the target's name. */
    private NewFile.Linking failingOnce(boolean afterSuccess) {
        return (name, existing) -> {
            if (!name.equals(target)) {
                Files.createLink(name, existing);
                return;
            }
            if (afterSuccess) {
                Files.createLink(name, existing);
            }
            throw new FileSystemException(name.toString(), null, "Input/output error");
        };
    }

    @Test
    void a_link_that_fails_where_links_work_leaves_no_torn_fact() throws IOException {
        assertThatThrownBy(() -> Disk.publish(target, bytes("mine"), failingOnce(false)))
                .isInstanceOf(FileSystemException.class)
                .hasMessageContaining("Input/output error");
        assertThat(Disk.list(folder)).isEmpty();
    }

    @Test
    void a_link_whose_answer_is_an_error_is_not_answered_with_somebody_elses_fact() throws IOException {
        assertThatThrownBy(() -> Disk.publish(target, bytes("mine"), failingOnce(true)))
                .isInstanceOf(FileSystemException.class);
        assertThat(Disk.list(folder)).containsExactly("fact");
        assertThat(Disk.publish(target, bytes("mine"))).isTrue();
    }

    @Test
    void a_mount_without_hard_links_gives_a_name_to_one_only_too() throws IOException {
        try (FileSystem noLinks = FileSystems.newFileSystem(
                URI.create("jar:" + folder.resolve("mount.zip").toUri()), Map.of("create", "true"))) {
            Path fact = noLinks.getPath("/fact");

            assertThat(Disk.publish(fact, bytes("first"))).isTrue();
            assertThat(Disk.publish(fact, bytes("second"))).isFalse();
            assertThat(Files.readString(fact)).isEqualTo("first");
            assertThat(Disk.list(noLinks.getPath("/"))).containsExactly("fact");
        }
    }

    @Test
    void a_large_file_has_its_name_only_once_it_is_complete() throws IOException {
        int written = Disk.writeWhole(target, out -> {
            out.write(bytes("half"));
            assertThat(target).doesNotExist();
            assertThat(Disk.list(folder))
                    .singleElement()
                    .satisfies(name -> assertThat(Layout.isHidden(name)).isTrue());
            out.write(bytes(" and half"));
            return 13;
        });
        assertThat(written).isEqualTo(13);
        assertThat(target).hasContent("half and half");
        assertThat(Disk.list(folder)).containsExactly("fact");
    }

    @Test
    void a_large_file_that_fails_leaves_nothing_and_keeps_what_was_there() throws IOException {
        Files.writeString(target, "old");

        assertThatThrownBy(() -> Disk.writeWhole(target, out -> {
                    out.write(bytes("half"));
                    throw new IOException("disk full");
                }))
                .hasMessage("disk full");
        assertThat(target).hasContent("old");
        assertThat(Disk.list(folder)).containsExactly("fact");
    }

    @Test
    void a_directory_is_renamed_to_a_free_name_only() throws IOException {
        Path stage = Files.createDirectory(folder.resolve("stage"));
        Files.writeString(stage.resolve("inside"), "mine");
        Path job = Files.createDirectory(folder.resolve("job"));
        Files.writeString(job.resolve("inside"), "theirs");

        assertThat(Disk.renameToNew(stage, job)).isFalse();
        assertThat(job.resolve("inside")).hasContent("theirs");
        assertThat(Disk.renameToNew(stage, folder.resolve("free"))).isTrue();
        assertThat(folder.resolve("free/inside")).hasContent("mine");
        assertThat(stage).doesNotExist();
    }

    @Test
    void a_listing_is_sorted_and_empty_where_there_is_nothing() throws IOException {
        for (String name : new String[] {"b", "a", "c"}) {
            Files.createFile(folder.resolve(name));
        }
        assertThat(Disk.list(folder)).containsExactly("a", "b", "c");
        assertThat(Disk.list(folder.resolve("none"))).isEmpty();
        assertThatThrownBy(() -> Disk.list(folder.resolve("a"))).isInstanceOf(IOException.class);
    }

    @Test
    void the_size_of_a_tree_is_that_of_its_files() throws IOException {
        Files.createDirectories(folder.resolve("x/y"));
        Files.writeString(folder.resolve("x/one"), "123");
        Files.writeString(folder.resolve("x/y/two"), "45");

        assertThat(Disk.treeSize(folder.resolve("x").toString())).isEqualTo(5);
        assertThat(Disk.treeSize(folder.resolve("x/one").toString())).isEqualTo(3);
        assertThat(Disk.treeSize(folder.resolve("none").toString())).isZero();
    }

    @Test
    void a_tree_is_deleted_without_following_links() throws IOException {
        Path outside = Files.writeString(folder.resolve("outside"), "stays");
        Path tree = Files.createDirectories(folder.resolve("tree/deep")).getParent();
        Files.writeString(tree.resolve("deep/file"), "goes");
        Files.createSymbolicLink(tree.resolve("link"), outside);
        Files.createSymbolicLink(tree.resolve("up"), folder);
        Disk.deleteTree(tree);
        Disk.deleteTree(tree);

        assertThat(Disk.list(folder)).containsExactly("outside");
        assertThat(outside).hasContent("stays");
    }

    @Test
    void a_durable_output_takes_no_name_that_is_taken() throws IOException {
        try (DurableOutput out = DurableOutput.create(target)) {
            out.write('a');
            out.write(bytes("bc"));
        }
        assertThat(target).hasContent("abc");
        assertThatThrownBy(() -> DurableOutput.create(target))
                .isInstanceOf(java.nio.file.FileAlreadyExistsException.class);
    }

    @Test
    void a_whole_file_is_written_through_any_partial_writes() throws IOException {
        byte[] large = new byte[5_000_000];
        new java.util.Random(1).nextBytes(large);
        Disk.publish(target, large);

        assertThat(Files.readAllBytes(target)).isEqualTo(large);
        try (FileChannel channel = FileChannel.open(target, StandardOpenOption.READ)) {
            assertThat(channel.size()).isEqualTo(large.length);
        }
    }

    private static byte[] bytes(String text) {
        return text.getBytes(java.nio.charset.StandardCharsets.UTF_8);
    }
}
