package dev.caravan.intake;

import dev.caravan.shard.Claim;
import dev.caravan.shard.DoneRecord;
import dev.caravan.shard.ShardId;
import dev.caravan.store.Disk;
import dev.caravan.store.JobFiles;
import dev.caravan.store.Json;
import dev.caravan.store.Layout;
import dev.caravan.store.LeaseStore;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Takes results of one job over into the stage of another that has the same shards. Result files are linked, not
 * copied, where the mount can. */
final class ResultReuse {
    private final JobFiles from;
    private final Layout.Job stage;

    ResultReuse(JobFiles from, Layout.Job stage) {
        this.from = from;
        this.stage = stage;
    }

    /** @return whether there was a result; without one the shard is to be done as any other */
    boolean take(ShardId shard) throws IOException {
        Optional<DoneRecord> done = from.done(shard);
        if (done.isEmpty()) {
            return false;
        }
        Path result = from.layout().resolve(done.get().outputPath());
        Path target = stage.resolve(done.get().outputPath());
        Disk.createDirectories(target.getParent());
        Disk.linkOrCopy(result, target);
        Path attempt = new Layout.Attempt(result.getParent()).record();
        if (Disk.exists(attempt)) {
            Disk.linkOrCopy(attempt, new Layout.Attempt(target.getParent()).record());
        }
        DoneRecord.@Nullable Failures failures = done.get().failures();
        if (failures != null) {
            Disk.linkOrCopy(from.layout().resolve(failures.path()), stage.resolve(failures.path()));
        }
        LeaseStore claims = new JobFiles(stage).locks();
        for (long epoch = 1; epoch <= done.get().epoch(); epoch++) {
            Optional<Claim> claim = from.locks().look(shard.toString(), epoch).flatMap(LeaseStore.Sight::claim);
            if (claim.isPresent()) {
                claims.create(claim.get());
            }
        }
        Disk.replace(stage.done(shard), Json.bytes(done.get()));
        return true;
    }
}
