package dev.caravan.intake;

import dev.caravan.jsonl.BadLine;
import dev.caravan.jsonl.Line;
import dev.caravan.jsonl.Records;
import dev.caravan.jsonl.Sha256;
import dev.caravan.shard.Checkpoint;
import dev.caravan.shard.Manifest;
import dev.caravan.shard.ShardId;
import dev.caravan.store.Disk;
import dev.caravan.store.Layout;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.util.HashMap;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Writes the shards of a job anew, with each repaired record at the place where its line was in the input. */
final class RepairedShards {
    private final Rerun.Request request;
    private final Layout.Job from;
    private final Manifest old;
    private final RepairReader repairs;
    private final ShardWriter shards;
    private final QuarantineWriter quarantine;
    private final @Nullable UniqueIds ids;
    private Normalizer normalizer;
    private final Set<ShardId> changed = new HashSet<>();
    private final Map<String, Long> repairedByFile = new HashMap<>();
    private RepairReader.@Nullable Repair next;
    private long repairsRead;
    private long rowsBefore;

    RepairedShards(
            Rerun.Request request,
            Manifest old,
            RepairReader repairs,
            ShardWriter shards,
            QuarantineWriter quarantine) {
        this.request = request;
        this.from = request.from();
        this.old = old;
        this.repairs = repairs;
        this.shards = shards;
        this.quarantine = quarantine;
        Checkpoint checkpoint = old.execution().checkpoint();
        this.ids = checkpoint == null ? null : new UniqueIds(checkpoint.idColumn(), request.scratch());
        this.normalizer = normalizer(null);
    }

    private Normalizer normalizer(@Nullable RecordIds seen) {
        return new Normalizer(
                old.mediaKeys().values(),
                old.indexKeys(),
                Path.of(old.mediaRoot()),
                ids == null ? null : new IdColumn(ids.column(), seen));
    }

    void write() throws IOException {
        if (ids == null) {
            copy();
            return;
        }
        try (RecordIds seen = new RecordIds(ids.scratch())) {
            normalizer = normalizer(seen);
            copy();
            ids.requireUnique(seen);
        }
    }

    private void copy() throws IOException {
        next = repairs.next();
        for (int shard = 0; shard < old.numShards(); shard++) {
            copy(shard);
        }
    }

    /** Those that got a repaired record; their results do not count any more. */
    Set<ShardId> changed() {
        return changed;
    }

    /** How many lines of each input file were repaired. */
    Map<String, Long> repairedByFile() {
        return repairedByFile;
    }

    private void copy(int shard) throws IOException {
        Path file = from.resolve(old.shards().get(shard).path());
        MessageDigest digest = Sha256.digest();
        try (InputStream in = new DigestInputStream(Disk.open(file), digest)) {
            Records records = new Records(file.toString(), in);
            for (Line record = records.next(); record != null; record = records.next()) {
                put(shard, rowsBefore);
                keepId(file, record);
                shards.write(shard, record.buffer(), record.from(), record.to());
                rowsBefore++;
            }
        }
        if (shard == old.numShards() - 1) {
            put(shard, Long.MAX_VALUE);
        }
        String found = HexFormat.of().formatHex(digest.digest());
        if (!found.equals(old.shards().get(shard).sha256())) {
            throw new IntakeException(file + " is not the shard that the manifest describes: find what is wrong with"
                    + " 'caravan verify --job-dir " + from.path() + "'");
        }
    }

    /** All that belongs before record {@code row} of the old job: of quarantined lines, those before it do not count. */
    private void put(int shard, long row) throws IOException {
        while (next != null && next.quarantined().record() - repairsRead <= row) {
            Line line = next.repaired();
            if (line == null) {
                quarantine.write(next.quarantined(), next.original(), 0, next.original().length);
            } else {
                put(shard, next, line);
            }
            repairsRead++;
            next = repairs.next();
        }
    }

    /** The records are sound and complete; only their ids may repeat. */
    private void keepId(Path file, Line record) {
        if (ids != null) {
            normalizer.begin(file);
            normalizer.rewrite(record, rowsBefore);
        }
    }

    private void put(int shard, RepairReader.Repair repair, Line line) throws IOException {
        normalizer.begin(request.repairedLines());
        Rewrite rewrite = normalizer.rewrite(line, repair.quarantined().record());
        if (rewrite instanceof Rewrite.Refused refused) {
            throw new IntakeException("a repaired record cannot be used: " + BadLine.of(line, refused.flaw())
                    + ". Repair it, or leave the line blank");
        } else if (rewrite instanceof Rewrite.Changed normalized) {
            shards.write(shard, normalized.record(), 0, normalized.record().length);
        } else {
            shards.write(shard, line.buffer(), line.from(), line.to());
        }
        changed.add(old.shards().get(shard).id());
        repairedByFile.merge(repair.quarantined().file(), 1L, Long::sum);
    }
}
