package dev.caravan.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class NewFileTest {
    @TempDir
    Path folder;

    private Path target;

    @BeforeEach
    void target() {
        target = folder.resolve("target");
    }

    @Test
    void a_file_has_its_name_only_once_it_is_published() throws IOException {
        try (NewFile file = written("mine")) {
            assertThat(target).doesNotExist();
            assertThat(names()).singleElement().asString().startsWith(".caravan-a-");
            assertThat(file.publish()).isTrue();
        }
        assertThat(target).hasContent("mine");
        assertThat(names()).containsExactly("target");
    }

    @Test
    void a_name_that_is_taken_is_left_to_its_owner() throws IOException {
        Files.writeString(target, "theirs");

        try (NewFile file = written("mine")) {
            assertThat(file.publish()).isFalse();
        }
        assertThat(target).hasContent("theirs");
        assertThat(names()).containsExactly("target");
    }

    @Test
    void a_file_replaces_another_if_asked_to() throws IOException {
        Files.writeString(target, "theirs");

        try (NewFile file = written("mine")) {
            file.replace();
        }
        assertThat(target).hasContent("mine");
        assertThat(names()).containsExactly("target");
    }

    @Test
    void a_file_that_is_given_up_leaves_nothing() throws IOException {
        written("half").close();

        assertThat(names()).isEmpty();
    }

    @Test
    void a_link_whose_answer_was_lost_counts_as_made() throws IOException {
        try (NewFile file = written("mine")) {
            Files.createLink(target, folder.resolve(names().get(0)));
            assertThat(file.publish()).isTrue();
        }
        assertThat(target).hasContent("mine");
    }

    @Test
    void a_mount_without_hard_links_gives_the_name_to_one_only_too() throws IOException {
        for (Exception refusal : List.of(
                new UnsupportedOperationException(),
                new FileSystemException("target", "x", "Operation not permitted"))) {
            try (NewFile first = withoutLinks(refusal, "first");
                    NewFile second = withoutLinks(refusal, "second")) {
                assertThat(first.publish()).isTrue();
                assertThat(second.publish()).isFalse();
            }
            assertThat(target).hasContent("first");
            assertThat(names()).containsExactly("target");
            Files.delete(target);
        }
    }

    @Test
    void a_full_or_dead_mount_is_not_taken_for_one_without_links() throws IOException {
        for (String trouble : List.of("No space left on device", "Transport endpoint is not connected")) {
            try (NewFile file = withoutLinks(new FileSystemException("target", "x", trouble), "mine")) {
                assertThatThrownBy(file::publish).hasMessageContaining(trouble);
                assertThat(target).doesNotExist();
            }
        }
        assertThat(names()).isEmpty();
    }

    @Test
    void a_reserved_name_is_free_again_if_the_file_cannot_get_it() throws IOException {
        NewFile file = NewFile.beside(target, "a", (name, existing) -> {
            Files.delete(existing);
            throw new UnsupportedOperationException();
        });

        assertThatThrownBy(file::publish).isInstanceOf(StoreException.class).hasMessageContaining("was removed");
        assertThat(names()).isEmpty();
    }

    @Test
    void an_unfinished_file_that_is_removed_while_it_gets_its_name_is_told_as_one_removed_before() throws IOException {
        NewFile file = NewFile.beside(target, "a", (name, existing) -> {
            Files.delete(existing);
            Files.createLink(name, existing);
        });

        assertThatThrownBy(file::publish)
                .isInstanceOf(StoreException.class)
                .hasMessageContaining("the unfinished " + target + " was removed by another process");
        assertThat(names()).isEmpty();
    }

    @Test
    void an_unfinished_file_that_is_removed_when_another_has_the_name_is_not_the_target() throws IOException {
        NewFile file = NewFile.beside(target, "a", (name, existing) -> {
            Files.writeString(name, "another");
            Files.delete(existing);
            throw new FileAlreadyExistsException(name.toString());
        });

        assertThat(file.publish()).isFalse();
        assertThat(target).hasContent("another");
    }

    private NewFile withoutLinks(Exception refusal, String content) throws IOException {
        NewFile file = NewFile.beside(target, "a", (name, existing) -> {
            if (refusal instanceof IOException e) {
                throw e;
            }
            throw (RuntimeException) refusal;
        });
        file.write(content.getBytes(), content.length(), 0);
        return file;
    }

    @Test
    void only_files_of_the_same_maker_are_abandoned() throws IOException {
        NewFile mine = written("mine");
        try (NewFile other = NewFile.beside(target, "ab")) {
            NewFile.removeAbandoned(target, "a");

            assertThat(names()).singleElement().asString().startsWith(".caravan-ab-");
            assertThatThrownBy(mine::publish)
                    .isInstanceOf(StoreException.class)
                    .hasMessageContaining("the unfinished " + target + " was removed by another process");
            assertThat(target).doesNotExist();
            assertThat(other.publish()).isTrue();
        }
    }

    private NewFile written(String content) throws IOException {
        NewFile file = NewFile.beside(target, "a");
        file.write(content.getBytes(), content.length(), 0);
        return file;
    }

    private List<String> names() throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.map(file -> file.getFileName().toString()).toList();
        }
    }
}
