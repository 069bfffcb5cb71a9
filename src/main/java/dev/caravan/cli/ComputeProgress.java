package dev.caravan.cli;

import dev.caravan.shard.Manifest;
import dev.caravan.status.AttemptFiles;
import dev.caravan.store.JobFiles;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Tells how many items of a job are done, from done records and what the attempts' logs say last. */
final class ComputeProgress {
    /** As caravan_runner/plan_execute.py writes it. */
    private static final Pattern DONE =
            Pattern.compile("caravan: (\\d+) of \\d+ items are done, (\\d+) of them failed");

    private static final int TAIL = 1 << 14;

    private final JobFiles job;
    private final PrintStream out;
    private String last = "";

    ComputeProgress(JobFiles job, PrintStream out) {
        this.job = job;
        this.out = out;
    }

    /** May be repeated; says nothing twice. */
    void show() throws IOException {
        Optional<Manifest> manifest = job.manifestIfPresent();
        String now = manifest.isEmpty() ? "planning" : text(manifest.get());
        if (!now.equals(last)) {
            out.println("caravan: " + now);
            last = now;
        }
    }

    private String text(Manifest manifest) throws IOException {
        long done = 0;
        long failed = 0;
        for (Manifest.Shard shard : manifest.shards()) {
            var record = job.done(shard.id());
            if (record.isPresent()) {
                done += shard.rows();
                failed += record.get().ledger().failed();
                continue;
            }
            AttemptFiles attempts = new AttemptFiles(job);
            List<AttemptFiles.Line> all = attempts.of(shard.id());
            if (!all.isEmpty()) {
                byte[] tail = attempts.logTail(
                                shard.id(), all.get(all.size() - 1).name(), TAIL)
                        .orElse(new byte[0]);
                Matcher said = DONE.matcher(new String(tail, StandardCharsets.UTF_8));
                long shardDone = 0;
                long shardFailed = 0;
                while (said.find()) {
                    shardDone = Long.parseLong(said.group(1));
                    shardFailed = Long.parseLong(said.group(2));
                }
                done += shardDone;
                failed += shardFailed;
            }
        }
        return done + " of " + manifest.totalRows() + " items are done, " + failed + " of them failed";
    }
}
