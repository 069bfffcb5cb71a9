package dev.caravan.exec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.caravan.TestJob;
import dev.caravan.claim.ShardClaims;
import dev.caravan.jsonl.Sha256;
import dev.caravan.lease.ClaimedShard;
import dev.caravan.lease.Heart;
import dev.caravan.lease.RetryPace;
import dev.caravan.shard.FailureClass;
import dev.caravan.shard.Manifest;
import dev.caravan.shard.NodeIdentity;
import dev.caravan.shard.Timing;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ShardInputsTest {
    private static final Runnable WANTED = () -> {};

    @TempDir
    Path folder;

    private final Heart heart =
            Heart.beating(new Timing(Duration.ofSeconds(45), Duration.ofSeconds(10), Duration.ofSeconds(10)));
    private Path input;
    private Path scratch;
    private ClaimedShard shard;
    private ShardInputs inputs;

    /** The only shard lies at the end of one file and at the start of the next. */
    @BeforeEach
    void ranges() throws IOException {
        input = Files.writeString(folder.resolve("a.jsonl"), "{}\n{\"a\":1}");
        Path second = Files.writeString(folder.resolve("b.jsonl"), "{\"b\":2}\n{}\n");
        byte[] content = "{\"a\":1}\n{\"b\":2}\n".getBytes(StandardCharsets.UTF_8);
        TestJob job = TestJob.in(folder, 1);
        Manifest.Shard ranges = new Manifest.Shard(
                job.id(0),
                null,
                List.of(new Manifest.Range(input.toString(), 3, 7), new Manifest.Range(second.toString(), 0, 8)),
                2,
                16,
                Sha256.hex(content));
        ClaimedShard claimed = new ShardClaims(
                        job.files,
                        job.manifest,
                        heart,
                        new NodeIdentity("me", "h", 1),
                        new RetryPace(Duration.ZERO, Duration.ZERO, Duration.ZERO))
                .claimNext()
                .orElseThrow();
        shard = new ClaimedShard(claimed.job(), claimed.manifest(), ranges, claimed.lease());
        scratch = folder.resolve("scratch");
        inputs = new ShardInputs(scratch, 0);
    }

    @AfterEach
    void close() {
        inputs.close();
        heart.close();
    }

    @Test
    void a_shard_is_cut_out_of_the_input_and_gone_after_the_attempt() throws IOException {
        ShardInputs.Input cut = inputs.take(shard, WANTED);

        assertThat(cut.file()).startsWith(scratch).hasFileName(shard.shard().id() + ".jsonl");
        assertThat(cut.file()).hasContent("{\"a\":1}\n{\"b\":2}\n");
        cut.close();
        assertThat(cut.file().getParent()).doesNotExist();
        inputs.close();
        assertThat(scratch).isEmptyDirectory();
    }

    @Test
    void input_that_changed_since_is_a_failure_of_the_data() throws IOException {
        Files.writeString(input, "{}\n{\"a\":3}");

        assertThatThrownBy(() -> inputs.take(shard, WANTED))
                .isInstanceOfSatisfying(
                        AttemptFailed.class,
                        failed -> assertThat(failed.failureClass()).isEqualTo(FailureClass.DATA))
                .hasMessageContaining("the input was changed after the job was prepared")
                .hasMessageContaining(input + " (bytes 3 to 10)");
        assertThat(scratch)
                .isDirectoryNotContaining("glob:**/" + shard.lease().claim().token());
    }

    @Test
    void input_that_became_shorter_is_noticed_too() throws IOException {
        Files.writeString(input, "{}\n");

        assertThatThrownBy(() -> inputs.take(shard, WANTED)).isInstanceOf(AttemptFailed.class);
    }

    @Test
    void a_shard_that_is_not_wanted_any_more_leaves_nothing_behind() {
        assertThatThrownBy(() -> inputs.take(shard, () -> {
                    throw new GivenBack("the node leaves");
                }))
                .hasMessage("the node leaves");
        assertThat(scratch)
                .isDirectoryNotContaining("glob:**/" + shard.lease().claim().token());
    }

    @Test
    void a_shard_is_cut_out_before_its_turn_only_where_enough_stays_free() throws IOException {
        assertThat(inputs.haveRoomFor(shard)).isTrue();
        try (ShardInputs crowded = new ShardInputs(scratch, Long.MAX_VALUE)) {
            assertThat(crowded.haveRoomFor(shard)).isFalse();
            assertThat(crowded.take(shard, WANTED).file()).exists();
        }
    }

    @Test
    void what_a_killed_node_left_is_removed_and_what_a_living_one_uses_stays() throws IOException {
        Path left = Files.createDirectories(scratch.resolve("caravan-shards-left"));
        Files.writeString(left.resolve(".owner"), "");
        Files.writeString(left.resolve("part.jsonl"), "{}\n");
        Path used = inputs.take(shard, WANTED).file();
        assertThat(left).doesNotExist();

        try (ShardInputs other = new ShardInputs(scratch, 0)) {
            other.take(shard, WANTED);
            assertThat(used).exists();
        }
    }
}
