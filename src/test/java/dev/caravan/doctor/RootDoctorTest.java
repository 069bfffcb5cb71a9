package dev.caravan.doctor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.caravan.CaravanException;
import dev.caravan.Eventually;
import dev.caravan.shard.NodeIdentity;
import dev.caravan.store.Json;
import dev.caravan.store.Layout;
import dev.caravan.store.Probe;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RootDoctorTest {
    private static final NodeIdentity WHO = new NodeIdentity("me-1", "my-host", 1);

    @TempDir
    Path folder;

    private Layout.Root root;

    @BeforeEach
    void mount() {
        root = new Layout.Root(folder);
    }

    private Diagnosis examine(Probe mount) {
        return examine(mount, InProcess.QUICK);
    }

    private Diagnosis examine(Probe mount, Effort effort) {
        return new RootDoctor(root, InProcess.tools(mount), effort).examine("me", WHO, 1);
    }

    private static Measured found(Diagnosis diagnosis, Property property) {
        return diagnosis.properties().stream()
                .filter(line -> line.property() == property)
                .findFirst()
                .orElseThrow();
    }

    private void assertFails(Probe mount, Property property, String... texts) {
        Effort impatient = new Effort(3, 40, Duration.ofMillis(200), 2, Duration.ofSeconds(2), Duration.ofSeconds(60));
        Diagnosis diagnosis = examine(mount, impatient);
        assertThat(found(diagnosis, property).grade()).as(diagnosis.toString()).isEqualTo(Grade.FAIL);
        assertThat(found(diagnosis, property).measured()).contains(texts);
        assertThat(diagnosis.verdict()).isEqualTo(Grade.FAIL);
        assertThat(diagnosis.refusal().orElseThrow())
                .startsWith("Caravan must not run on the mount " + diagnosis.mount() + ": ")
                .contains(property + ": ")
                .contains(texts);
        assertNothingIsLeft();
    }

    private void assertNothingIsLeft() {
        assertThat(everything()).containsExactlyInAnyOrder("doctor", "doctor/me.json");
    }

    private List<String> everything() {
        try (Stream<Path> all = Files.walk(folder)) {
            return all.filter(path -> !path.equals(folder))
                    .map(path -> folder.relativize(path).toString())
                    .toList();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void a_sound_mount_passes_and_only_the_result_stays() throws IOException {
        Diagnosis diagnosis = examine(new Probe());

        assertThat(diagnosis.properties().stream().map(Measured::property)).containsExactly(Property.values());
        assertThat(diagnosis.properties())
                .filteredOn(line -> !List.of(
                                Property.SPACE, Property.INODES, Property.FCNTL, Property.FLOCK, Property.NEW_NAME)
                        .contains(line.property()))
                .filteredOn(line -> line.property() != Property.LINK_RACE && line.property() != Property.CREATE_RACE)
                .allMatch(line -> line.grade() == Grade.OK);
        assertThat(found(diagnosis, Property.LINK_RACE).measured()).contains("40 names, 3 contenders: one winner each");
        assertThat(found(diagnosis, Property.RENAME).measured()).contains("0 missing, 0 mixed");
        assertThat(diagnosis.verdict()).isNotEqualTo(Grade.FAIL);
        assertThat(diagnosis.refusal()).isEmpty();
        assertThat(Json.parse(Files.readAllBytes(root.doctor().result("me")), Diagnosis.class))
                .isEqualTo(diagnosis);
        assertNothingIsLeft();
        assertThat(DiagnosisText.of(diagnosis))
                .contains("property", "measured", "verdict", "why it matters", "recommended  claim.lease: ");
    }

    @Test
    void a_link_that_replaces_what_is_there_is_found() {
        Probe lying = new Probe() {
            @Override
            public boolean link(Path existing, Path name) throws IOException {
                Files.write(name, Files.readAllBytes(existing));
                return true;
            }
        };
        assertFails(lying, Property.LINK, "a second link to the same name succeeded (no EEXIST)");
        assertThat(found(examine(lying), Property.LINK_COUNT))
                .isEqualTo(Measured.warn(Property.LINK_COUNT, "st_nlink is 1 after link, expected 2"));
        assertThat(found(examine(lying), Property.LINK_RACE).measured()).contains("80 won by several, 0 by none");
    }

    @Test
    void a_link_that_lies_only_in_a_race_is_found() {
        Probe lying = new Probe() {
            @Override
            public boolean link(Path existing, Path name) throws IOException {
                boolean won = super.link(existing, name);
                return won || name.getFileName().toString().equals(Helper.raced(7));
            }
        };
        assertFails(lying, Property.LINK_RACE, "2 won by several, 0 by none");
    }

    @Test
    void a_mount_without_links_is_allowed_if_exclusive_creation_works() {
        Probe noLinks = new Probe() {
            @Override
            public boolean link(Path existing, Path name) {
                throw new UnsupportedOperationException("Operation not permitted");
            }
        };
        Diagnosis diagnosis = examine(noLinks);

        assertThat(found(diagnosis, Property.LINK))
                .isEqualTo(Measured.warn(
                        Property.LINK,
                        "no links here (Operation not permitted): exclusive creation takes their place"));
        assertThat(found(diagnosis, Property.CREATE_RACE).measured()).contains("one winner each");
        assertThat(diagnosis.refusal()).isEmpty();
    }

    @Test
    void exclusive_creation_that_lies_is_fatal_only_where_there_are_no_links() {
        class Lying extends Probe {
            @Override
            public boolean create(Path file, byte[] content) throws IOException {
                if (!super.create(file, content)) {
                    Files.write(file, content);
                }
                return true;
            }
        }
        assertThat(found(examine(new Lying()), Property.CREATE))
                .isEqualTo(Measured.warn(Property.CREATE, "a second O_EXCL of the same name succeeded (no EEXIST)"));
        assertFails(
                new Lying() {
                    @Override
                    public boolean link(Path existing, Path name) {
                        throw new UnsupportedOperationException("Function not implemented");
                    }
                },
                Property.CREATE,
                "a second O_EXCL of the same name succeeded (no EEXIST)");
    }

    @Test
    void a_link_in_trouble_is_no_mount_without_links() {
        assertFails(
                new Probe() {
                    @Override
                    public boolean link(Path existing, Path name) throws IOException {
                        throw new FileSystemException("x", "y", "Input/output error");
                    }
                },
                Property.LINK,
                "a link failed: Input/output error");
    }

    @Test
    void a_rename_that_removes_first_is_found() {
        assertFails(
                new Probe() {
                    @Override
                    public void rename(Path from, Path to) throws IOException {
                        Files.deleteIfExists(to);
                        pause();
                        Files.move(from, to);
                    }
                },
                Property.RENAME,
                " missing, ");
    }

    @Test
    void a_rename_that_copies_is_found() {
        assertFails(
                new Probe() {
                    @Override
                    public void rename(Path from, Path to) throws IOException {
                        byte[] content = Files.readAllBytes(from);
                        Files.write(to, Arrays.copyOf(content, content.length / 2));
                        pause();
                        Files.write(to, content);
                        Files.delete(from);
                    }
                },
                Property.RENAME,
                " mixed");
    }

    private static void pause() {
        java.util.concurrent.locks.LockSupport.parkNanos(5_000_000);
    }

    @Test
    void a_name_that_others_never_see_is_found() {
        assertFails(
                new Probe() {
                    @Override
                    public Optional<byte[]> read(Path file) throws IOException {
                        return file.toString().endsWith(".answers") ? Optional.empty() : super.read(file);
                    }
                },
                Property.NEW_NAME,
                "not seen by another process within 2 s");
    }

    @Test
    void a_time_that_does_not_change_is_found() {
        Probe forgetful = new Probe() {
            @Override
            public void touch(Path file, FileTime time) {}
        };
        assertFails(forgetful, Property.TIME_STEP, "a time that is set is not kept: a beat would not be seen");
        assertFails(forgetful, Property.BEAT, "not seen by another process within 2 s");
    }

    @Test
    void an_fsync_that_fails_is_found() {
        class NoSync extends Probe {
            @Override
            protected void sync(FileChannel file) throws IOException {
                throw new FileSystemException("x", null, "Input/output error");
            }
        }
        assertThatThrownBy(() -> examine(new NoSync()))
                .isInstanceOf(CaravanException.class)
                .hasMessageStartingWith("Caravan must not run on the mount ")
                .hasMessageEndingWith(
                        "fsync: a file cannot be written and synced: Input/output error (a fact counts only"
                                + " once it is on the disk)");
        assertThat(everything()).isEmpty();
    }

    @Test
    void a_directory_that_cannot_be_synced_is_a_warning() {
        Diagnosis diagnosis = examine(new Probe() {
            @Override
            public void syncDirectory(Path directory) throws IOException {
                throw new FileSystemException(directory.toString(), null, "Invalid argument");
            }
        });
        assertThat(found(diagnosis, Property.FSYNC).grade()).isEqualTo(Grade.WARN);
        assertThat(found(diagnosis, Property.FSYNC).measured())
                .endsWith("directories cannot be synced (Invalid argument)");
    }

    @Test
    void locks_that_lie_are_told_and_harm_nothing() {
        Diagnosis diagnosis = examine(new Probe() {
            @Override
            public Optional<AutoCloseable> lock(Path file) {
                return Optional.of(() -> {});
            }
        });
        assertThat(found(diagnosis, Property.FCNTL))
                .isEqualTo(Measured.warn(Property.FCNTL, "lie: two processes of this host held one"));
        assertThat(diagnosis.refusal()).isEmpty();
    }

    @Test
    void slow_attributes_lengthen_the_lease() {
        Diagnosis diagnosis = examine(new Probe() {
            private long firstAsked;

            @Override
            public synchronized FileTime lastModified(Path file) throws IOException {
                FileTime real = super.lastModified(file);
                boolean late = file.getFileName().toString().equals("TIME.answers");
                firstAsked = late && firstAsked == 0 ? System.nanoTime() : firstAsked;
                return late && System.nanoTime() - firstAsked < 9_000_000_000L ? FileTime.fromMillis(0) : real;
            }
        });
        assertThat(found(diagnosis, Property.BEAT).measured()).matches("within (9|\\d\\d)\\d{3} ms");
        assertThat(diagnosis.recommended().lease()).isGreaterThanOrEqualTo(Duration.ofSeconds(22));
    }

    @Test
    void two_doctors_measure_together() throws Exception {
        CompletableFuture<Diagnosis> other = CompletableFuture.supplyAsync(
                () -> new RootDoctor(root, InProcess.tools(new Probe()), InProcess.QUICK).examine("other", WHO, 2));
        Diagnosis mine = new RootDoctor(root, InProcess.tools(new Probe()), InProcess.QUICK).examine("me", WHO, 2);
        Diagnosis others = other.get();

        assertThat(mine.nodes()).hasSize(2).isEqualTo(others.nodes());
        assertThat(found(mine, Property.LINK_RACE).measured()).contains("6 contenders: one winner each");
        assertThat(found(mine, Property.CLOCK).measured()).contains("hosts differ by ");
        assertThat(found(others, Property.FCNTL).measured()).contains("exclude between nodes");
        Eventually.until("nothing is left but both results", () -> everything().size() == 3);
        assertThat(everything()).contains("doctor/me.json", "doctor/other.json");
    }

    @Test
    void a_node_that_leaves_ends_the_measurement_of_the_others_with_its_reason() {
        Probe broken = new Probe() {
            @Override
            public FileTime lastModified(Path file) throws IOException {
                if (file.endsWith("clock")) {
                    throw new FileSystemException("x", null, "Input/output error");
                }
                return super.lastModified(file);
            }
        };
        CompletableFuture<Diagnosis> other = CompletableFuture.supplyAsync(
                () -> new RootDoctor(root, InProcess.tools(broken), InProcess.QUICK).examine("other", WHO, 2));

        assertThatThrownBy(
                        () -> new RootDoctor(root, InProcess.tools(new Probe()), InProcess.QUICK).examine("me", WHO, 2))
                .isInstanceOf(CaravanException.class)
                .hasMessageMatching("(?s)node other-[0-9a-f]{8} left the measurement: x: Input/output error");
        assertThatThrownBy(other::join)
                .hasMessageContaining("could not measure " + root.path())
                .hasMessageContaining("Input/output error");
        assertThat(everything()).isEmpty();
    }

    @Test
    void nobody_comes() {
        Effort quick = new Effort(3, 10, Duration.ofMillis(50), 1, Duration.ofSeconds(1), Duration.ofMillis(1200));

        assertThatThrownBy(() -> new RootDoctor(root, InProcess.tools(new Probe()), quick).examine("me", WHO, 2))
                .isInstanceOf(CaravanException.class)
                .hasMessageStartingWith(
                        "only 1 of 2 nodes came to " + root.doctor().meeting() + " within 1 s: me-")
                .hasMessageContaining("start the same command on the other nodes at the same time");
        assertThat(everything()).isEmpty();
    }

    @Test
    void what_a_killed_doctor_left_is_removed() throws IOException {
        Path session = Files.createDirectories(root.doctor().session("dead-1").resolve("race-link"));
        Files.writeString(session.resolve("name-00001"), "x");
        Files.createDirectories(root.doctor().meeting());
        Files.writeString(
                root.doctor().member("dead-1"),
                "{\"id\":\"dead-1\",\"beat\":3,\"members\":[\"dead-1\"],\"step\":2,\"facts\":{}}");

        examine(new Probe());

        assertNothingIsLeft();
    }

    @Test
    void a_root_that_is_not_there_is_not_made() {
        root = new Layout.Root(folder.resolve("not-mounted"));

        assertThatThrownBy(() -> examine(new Probe()))
                .isInstanceOf(CaravanException.class)
                .hasMessage("there is no directory " + root.path()
                        + ": mount what is shared, or make the directory, then run this again");
    }
}
