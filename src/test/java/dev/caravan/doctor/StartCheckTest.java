package dev.caravan.doctor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.caravan.CaravanException;
import dev.caravan.store.Layout;
import dev.caravan.store.Mount;
import dev.caravan.store.Probe;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StartCheckTest {
    @TempDir
    Path folder;

    private static StartCheck check(Probe mount) {
        return new StartCheck(mount, Duration.ofSeconds(45));
    }

    @AfterEach
    void nothing_is_left() throws IOException {
        try (Stream<Path> all = Files.walk(folder)) {
            assertThat(all.filter(path -> path.getFileName().toString().startsWith(".")))
                    .isEmpty();
        }
    }

    private void assertRefused(Probe mount, String property, String measured) throws IOException {
        for (Runnable start : new Runnable[] {
            () -> check(mount).root(new Layout.Root(folder.resolve("not/yet"))),
            () -> check(mount).job(new Layout.Job(folder))
        }) {
            assertThatThrownBy(start::run)
                    .isInstanceOf(CaravanException.class)
                    .hasMessageStartingWith(
                            "Caravan must not run on the mount " + Mount.of(folder) + ": " + property + ": " + measured)
                    .hasMessageEndingWith("caravan doctor --root DIR measures more");
        }
    }

    @Test
    void a_sound_mount_is_let_through_and_nothing_is_made() {
        check(new Probe()).root(new Layout.Root(folder.resolve("not/yet")));
        check(new Probe()).job(new Layout.Job(folder.resolve("jobs/j")));

        assertThat(folder).isEmptyDirectory();
    }

    @Test
    void a_link_that_lies_is_refused() throws IOException {
        assertRefused(
                new Probe() {
                    @Override
                    public boolean link(Path existing, Path name) throws IOException {
                        Files.write(name, Files.readAllBytes(existing));
                        return true;
                    }
                },
                "exclusive link",
                "a second link to the same name succeeded (no EEXIST)");
    }

    @Test
    void neither_links_nor_exclusive_creation_is_refused() throws IOException {
        assertRefused(
                new Probe() {
                    @Override
                    public boolean link(Path existing, Path name) {
                        throw new UnsupportedOperationException("Operation not supported");
                    }

                    @Override
                    public boolean create(Path file, byte[] content) throws IOException {
                        Files.write(file, content);
                        return true;
                    }
                },
                "exclusive create",
                "a second O_EXCL of the same name succeeded (no EEXIST)");
    }

    @Test
    void a_rename_that_fails_is_refused() throws IOException {
        assertRefused(
                new Probe() {
                    @Override
                    public void rename(Path from, Path to) throws IOException {
                        throw new FileSystemException(from.toString(), to.toString(), "Input/output error");
                    }
                },
                "atomic rename",
                "a rename over a file failed: Input/output error");
    }

    @Test
    void a_rename_that_does_nothing_is_refused() throws IOException {
        assertRefused(
                new Probe() {
                    @Override
                    public void rename(Path from, Path to) {}
                },
                "atomic rename",
                "after a rename over a file the new content is not there");
    }

    @Test
    void a_file_in_the_way_is_told() throws IOException {
        Path file = Files.writeString(folder.resolve("file"), "x");

        assertThatThrownBy(() -> check(new Probe()).job(new Layout.Job(file)))
                .isInstanceOf(CaravanException.class)
                .hasMessageStartingWith("Caravan cannot run here: " + file + " is not a directory");
    }

    @Test
    void what_the_doctor_left_may_be_torn() throws IOException {
        Layout.Root root = new Layout.Root(folder);
        Files.createDirectories(root.doctor().path());
        Files.writeString(root.doctor().result("a"), "{\"recommended\":{\"lease\":\"soon\"}}");
        Files.writeString(root.doctor().result("b"), "");
        Files.writeString(root.doctor().result("c"), "{");

        check(new Probe()).root(root);
    }
}
