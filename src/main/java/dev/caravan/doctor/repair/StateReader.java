package dev.caravan.doctor.repair;

import dev.caravan.shard.Claim;
import dev.caravan.shard.DoneRecord;
import dev.caravan.shard.FailedRecord;
import dev.caravan.shard.Manifest;
import dev.caravan.shard.ShardId;
import dev.caravan.store.Disk;
import dev.caravan.store.Layout;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Reads {@code state/} by its names; what has no known name is a case. */
final class StateReader {
    private static final Pattern LOCK = Pattern.compile("(.+)\\.([1-9]\\d{0,17})\\.lock");
    private static final Pattern RECORD = Pattern.compile("(.+)\\.json");
    /** What an NFS client calls a file that was removed while somebody has it open. */
    private static final String NFS_REMOVED = ".nfs";

    private final Layout.Job job;
    private final Map<ShardId, ShardState> shards = new LinkedHashMap<>();
    private final List<Case> cases = new ArrayList<>();

    StateReader(Layout.Job job, Manifest manifest) {
        this.job = job;
        manifest.shards().forEach(shard -> shards.put(shard.id(), new ShardState(shard.id())));
    }

    Map<ShardId, ShardState> shards() {
        return shards;
    }

    List<Case> read() throws IOException {
        Set<Path> known = Set.of(job.locks(), job.speculative(), job.doneRecords(), job.failedRecords(), job.history());
        Set<Path> controls = Set.of(job.paused(), job.cancelled(), job.cleaned());
        for (String name : Disk.list(job.state())) {
            Path path = job.state().resolve(name);
            if (!known.contains(path) && !controls.contains(path) && !name.startsWith(NFS_REMOVED)) {
                cases.add(Records.foreign(job, path, "locks, speculative, done, failed and history"));
            }
        }
        for (Path folder : known) {
            cases.addAll(Records.unfinished(job, folder));
        }
        claims(job.locks(), shard -> shard.claims);
        claims(job.speculative(), shard -> shard.speculative);
        // results after claims: a claim that ended done has its record already
        for (String name : named(job.failedRecords())) {
            ShardState shard = ofRecord(name);
            Path file = job.failedRecords().resolve(name);
            if (shard == null) {
                cases.add(Records.foreign(job, file, "<shard>.json"));
            } else {
                shard.failed = Records.read(file, FailedRecord.class).orElse(null);
            }
        }
        for (String name : named(job.doneRecords())) {
            ShardState shard = ofRecord(name);
            Path file = job.doneRecords().resolve(name);
            if (shard == null) {
                cases.add(Records.foreign(job, file, "<shard>.json"));
            } else {
                shard.done = Records.read(file, DoneRecord.class).orElse(null);
            }
        }
        return cases;
    }

    private void claims(Path folder, Function<ShardState, Map<Long, Records.Read<Claim>>> of) throws IOException {
        for (String name : named(folder)) {
            Matcher lock = LOCK.matcher(name);
            ShardState shard = lock.matches() ? shard(lock.group(1)) : null;
            Path file = folder.resolve(name);
            if (shard == null) {
                cases.add(Records.foreign(job, file, "<shard>.<epoch>.lock"));
            } else {
                Records.read(file, Claim.class)
                        .ifPresent(claim -> of.apply(shard).put(Long.parseLong(lock.group(2)), claim));
            }
        }
    }

    private static List<String> named(Path folder) throws IOException {
        return Disk.list(folder).stream()
                .filter(name -> !Layout.isTemporary(name) && !name.startsWith(NFS_REMOVED))
                .toList();
    }

    private @Nullable ShardState ofRecord(String name) {
        Matcher record = RECORD.matcher(name);
        return record.matches() ? shard(record.group(1)) : null;
    }

    private @Nullable ShardState shard(String text) {
        try {
            return shards.get(ShardId.parse(text));
        } catch (IllegalArgumentException foreign) {
            return null;
        }
    }
}
