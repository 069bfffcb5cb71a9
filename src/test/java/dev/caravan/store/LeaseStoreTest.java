package dev.caravan.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.caravan.shard.Claim;
import dev.caravan.shard.ClaimStatus;
import dev.caravan.shard.TestClaims;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LeaseStoreTest implements LeaseStoreContract {
    @TempDir
    Path directory;

    @Override
    public LeaseStore open() {
        return new LeaseStore(directory);
    }

    @Test
    void the_name_of_a_lock_file_tells_key_and_epoch() throws IOException {
        open().create(TestClaims.running("part-00000-of-00002", 12, "n"));

        assertThat(Disk.list(directory)).containsExactly("part-00000-of-00002.12.lock");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "{\"key\":\"s\",\"epo", "[]", "null", "{\"key\":\"s\",\"epoch\":0}", "\0\0\0\0"})
    void a_torn_file_is_a_sight_without_a_claim(String content) throws IOException {
        Files.writeString(directory.resolve("s.1.lock"), content);

        LeaseStore.Sight sight = open().look("s", 1).orElseThrow();
        assertThat(sight.claim()).isEmpty();
        assertThat(sight.beat()).isEqualTo(Files.getLastModifiedTime(directory.resolve("s.1.lock")));
        assertThat(open().highestEpochs()).containsOnly(Map.entry("s", 1L));
    }

    @ParameterizedTest
    @ValueSource(strings = {"s.lock", "s.x.lock", ".lock2.lock.", "s.1.5x.lock", "s..lock"})
    void a_foreign_file_is_named(String name) throws IOException {
        Files.createFile(directory.resolve(name));

        if (name.startsWith(".") || !name.endsWith(".lock")) {
            assertThat(open().highestEpochs()).isEmpty();
        } else {
            assertThatThrownBy(() -> open().highestEpochs())
                    .isInstanceOf(StoreException.class)
                    .hasMessageContaining("not a lock file: " + directory.resolve(name));
        }
    }

    @Test
    void unfinished_files_are_not_listed() throws IOException {
        Files.createFile(directory.resolve(".tmp-s.1.lock"));
        Files.createFile(directory.resolve("README.txt"));

        assertThat(open().highestEpochs()).isEmpty();
    }

    @Test
    void a_beat_for_a_file_that_vanished_fails_and_makes_none() throws IOException {
        Claim claim = TestClaims.running("s", 1, "n");

        assertThatThrownBy(() -> open().beat(claim, FileTime.fromMillis(1))).isInstanceOf(NoSuchFileException.class);
        assertThat(directory).isEmptyDirectory();
    }

    @Test
    void the_end_of_a_claim_leaves_no_other_file() throws IOException {
        Claim claim = TestClaims.running("s", 1, "n");
        open().create(claim);
        open().end(claim.ended(ClaimStatus.DONE, null, null));

        assertThat(Disk.list(directory)).containsExactly("s.1.lock");
    }

    @Test
    void claims_in_a_directory_that_does_not_exist_yet_are_none() throws IOException {
        LeaseStore none = new LeaseStore(directory.resolve("none"));

        assertThat(none.highestEpochs()).isEmpty();
        assertThat(none.look("s", 1)).isEmpty();
        assertThat(none.exists("s", 1)).isFalse();
    }
}
