package dev.caravan.exec;

import dev.caravan.jsonl.Line;
import dev.caravan.jsonl.RecordWriter;
import dev.caravan.jsonl.Records;
import dev.caravan.jsonl.Sha256;
import dev.caravan.lease.ClaimedShard;
import dev.caravan.shard.FailureClass;
import dev.caravan.store.Disk;
import dev.caravan.store.Layout;
import dev.caravan.store.ShardBytes;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Within one attempt: the records that the engine fails on are found by halving and set aside, and the engine runs once
 * more over all others together, so that its batches are those of a shard that never had them.
 */
final class Isolation {
    private static final Logger LOG = LoggerFactory.getLogger(Isolation.class);

    private final ClaimedShard shard;
    private final AttemptFailed cause;
    private final Halving halving;
    private final List<FailedRow> failed = new ArrayList<>();
    private @Nullable Trial current;
    private boolean last;
    private int trials;

    private Isolation(ClaimedShard shard, AttemptFailed cause) {
        this.shard = shard;
        this.cause = cause;
        this.halving = new Halving(shard.shard().rows());
    }

    /** Where the job asks for it, some record may be to blame, and the shard has failed on its data before. */
    static boolean mayHelp(ClaimedShard shard, AttemptFailed failure) {
        return shard.manifest().policy().poison().isolate()
                && failure.suspicion() != null
                && shard.lease().claim().spent().data() > 0
                && shard.shard().rows() > 1;
    }

    static Isolation begin(ClaimedShard shard, AttemptFailed cause) throws IOException {
        LOG.info("{}: failed on its data again ({}); looking for the records to blame", shard, cause.getMessage());
        Isolation isolation = new Isolation(shard, cause);
        isolation.requireAllowance();
        return isolation;
    }

    /** What to run next; nothing once the engine has processed all records that are not to blame. */
    Optional<Trial> next() throws IOException {
        Optional<Halving.Range> range = halving.next();
        if (range.isPresent()) {
            current = trial(record ->
                    record >= range.get().from() && record < range.get().to());
        } else if (halving.gaveUp()) {
            throw cause;
        } else if (!last) {
            last = true;
            Set<Long> guilty = new HashSet<>(halving.guilty());
            LOG.warn("{}: the engine fails on {} records, which are set aside", shard, guilty.size());
            current = trial(record -> !guilty.contains(record));
        } else {
            FailedRows.write(shard.attempt().failedRecords(), failed);
            return Optional.empty();
        }
        return Optional.of(current);
    }

    void passed() throws IOException {
        if (!last) {
            halving.passed();
            discard();
        }
    }

    /** @throws AttemptFailed if that ends the attempt */
    void failed(AttemptFailed failure) throws IOException {
        if (failure.failureClass() != FailureClass.DATA) {
            throw failure;
        }
        if (last) {
            throw cause;
        }
        Halving.Range range = halving.next().orElseThrow();
        if (range.size() == 1) {
            failed.add(row(range.from() + 1, failure));
        }
        halving.failed();
        if (range.size() == 1) {
            requireAllowance();
        }
        discard();
    }

    private void requireAllowance() throws IOException {
        if (failed.size() > FailedRows.allowance(shard) - (failed.isEmpty() ? 1 : 0)) {
            FailedRows.write(shard.attempt().failedRecords(), failed);
            throw FailedRows.tooMany(shard.manifest());
        }
    }

    private FailedRow row(long line, AttemptFailed failure) throws IOException {
        byte[] record = Disk.read(Objects.requireNonNull(current).input());
        AttemptFailed.Suspicion suspicion =
                failure.suspicion() == null ? AttemptFailed.Suspicion.UNKNOWN : failure.suspicion();
        return new FailedRow(
                line,
                Sha256.hex(Arrays.copyOf(record, record.length - 1)),
                suspicion.operator(),
                suspicion.errorClass(),
                suspicion.stackSha256(),
                String.valueOf(failure.getMessage()));
    }

    private Trial trial(LongPredicate wanted) throws IOException {
        Layout.Attempt directory = shard.attempt().trial(++trials);
        Disk.createDirectories(directory.produced());
        Disk.writeWhole(directory.input(), out -> {
            RecordWriter writer = new RecordWriter(out);
            try (InputStream in = ShardBytes.open(shard.job().layout(), shard.shard())) {
                Records records = new Records(shard.shard().id().toString(), in);
                for (@Nullable Line record = records.next(); record != null; record = records.next()) {
                    if (wanted.test(records.rows() - 1)) {
                        writer.write(record);
                    }
                }
            }
            return writer.tally();
        });
        return new Trial(
                shard, directory.input(), directory, last ? shard.attempt().processed() : directory.processed());
    }

    /** What a half has left is not needed; the log has what it said. */
    private void discard() throws IOException {
        Disk.deleteTree(Objects.requireNonNull(current).directory().path());
    }
}
