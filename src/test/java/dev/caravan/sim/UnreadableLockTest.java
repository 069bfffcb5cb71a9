package dev.caravan.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.caravan.claim.ShardClaims;
import dev.caravan.lease.Heart;
import dev.caravan.lease.RetryPace;
import dev.caravan.shard.Manifest;
import dev.caravan.shard.NodeIdentity;
import dev.caravan.shard.Policy;
import dev.caravan.shard.TestClaims;
import dev.caravan.shard.Timing;
import dev.caravan.store.JobFiles;
import dev.caravan.store.Layout;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** A lock that this node may not read, such as one of another user's. */
@ExtendWith(Quietly.class)
class UnreadableLockTest {
    private static final int SHARDS = 8;
    private static final Timing TIMING =
            new Timing(Duration.ofSeconds(45), Duration.ofSeconds(10), Duration.ofSeconds(10));
    private static final RetryPace PACE =
            new RetryPace(Duration.ofSeconds(5), Duration.ofSeconds(60), Duration.ofSeconds(10));

    private final Layout.Job layout = new Layout.Job(Path.of("/shared/job"));
    private long now;
    private final ModelDirectory directory =
            new ModelDirectory(() -> now, Lateness.NONE, ModelDirectory.Changes.IGNORED);

    private static final class Denying implements Network {
        private final String unreadable;

        Denying(String unreadable) {
            this.unreadable = unreadable;
        }

        @Override
        public void ask(Op op, Path path) throws IOException {
            if (op == Op.READ && path.getFileName().toString().equals(unreadable)) {
                throw new AccessDeniedException(path.toString());
            }
        }

        @Override
        public Answer answer(Op op, Path path) {
            return Answer.ARRIVES;
        }
    }

    @Test
    void does_not_keep_it_from_watching_the_others() throws IOException {
        directory.makeDirectory(layout.locks());
        directory.makeDirectory(layout.doneRecords());
        directory.makeDirectory(layout.failedRecords());
        Manifest manifest = Jobs.manifest(SHARDS, Policy.DEFAULT);
        JobFiles dead = new JobFiles(directory.mount(1, Network.PERFECT), layout);
        for (Manifest.Shard shard : manifest.shards()) {
            dead.locks().create(TestClaims.running(shard.id().toString(), 1, "dead"));
        }
        String unreadable = manifest.shards().get(3).id() + ".1.lock";
        JobFiles job = new JobFiles(directory.mount(2, new Denying(unreadable)), layout);
        ShardClaims claims = new ShardClaims(
                job,
                manifest,
                new Heart(TIMING, () -> now, Clock.systemUTC()),
                new NodeIdentity("me", "host", 1),
                PACE);

        for (int look = 0; look <= 10; look++) {
            assertThatThrownBy(() -> claims.watch(32, 0)).isInstanceOf(AccessDeniedException.class);
            now += TIMING.lookEvery().toNanos();
        }
        Set<String> taken = new HashSet<>();
        for (int poll = 0; poll < 2 * SHARDS; poll++) {
            try {
                claims.claimNext()
                        .ifPresent(shard -> taken.add(shard.shard().id().toString()));
            } catch (IOException denied) {
                // tried again at the next poll
            }
        }
        assertThat(taken).hasSize(SHARDS - 1);
    }
}
