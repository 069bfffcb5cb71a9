package dev.caravan.intake;

import dev.caravan.jsonl.Tally;
import dev.caravan.shard.Manifest;
import dev.caravan.store.Disk;
import dev.caravan.store.JobFiles;
import dev.caravan.store.Json;
import dev.caravan.store.Layout;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Clock;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/**
 * Makes a new job of an old one and its repaired lines: the same shards, with each repaired record at the place where
 * its line was in the input. A shard that gets one is done again, all others keep their results. The old job stays as
 * it is.
 */
public final class Rerun {
    /**
     * @param repairedLines a line for each quarantined one, in their order; a blank one leaves it quarantined
     * @param output where the merged file or the folder of parts will go
     * @param scratch folder on a disk of this node
     */
    public record Request(Layout.Job from, Layout.Job to, Path repairedLines, Path output, Path scratch) {
        public Request {
            repairedLines = repairedLines.toAbsolutePath().normalize();
            output = output.toAbsolutePath().normalize();
        }
    }

    /** @param reused how many shards keep their results */
    public record Made(Manifest manifest, int reused) {}

    private final Clock clock;
    private final Request request;
    private final Manifest old;
    private final Layout.Job stage;

    private Rerun(Clock clock, Request request, Manifest old) {
        this.clock = clock;
        this.request = request;
        this.old = old;
        this.stage = new Layout.Job(request.to.stage(UUID.randomUUID().toString()));
    }

    /** @throws IntakeException if the repaired lines do not fit the job, or the new job directory is taken */
    public static Made run(Clock clock, Request request) {
        Manifest old = new JobFiles(request.from).manifest();
        if (old.quarantine() == null) {
            throw new IntakeException("nothing is quarantined in job " + request.from.path()
                    + ": there is nothing to repair and run again");
        }
        if (!Disk.isFile(request.repairedLines)) {
            throw new IntakeException("there are no repaired lines: expected a file " + request.repairedLines
                    + ", found none; begin with a copy of " + request.from.quarantinedLines());
        }
        Prepare.refuseOverlap(request.to, request.output, old.outputForm(), Path.of(old.datasetPath()));
        if (Disk.exists(request.to.path())) {
            throw new IntakeException("job directory " + request.to.path()
                    + " exists: a job never changes what it is; choose a new name");
        }
        Rerun rerun = new Rerun(clock, request, old);
        try {
            return rerun.make();
        } catch (IOException e) {
            throw new IntakeException(
                    "rerun of " + request.from.path() + " failed: " + e + ". Nothing was made; correct the cause (free"
                            + " space, permissions, mount) and run it again",
                    e);
        }
    }

    private Made make() throws IOException {
        try {
            Prepare.createDirectories(stage, true);
            Disk.createDirectories(stage.quarantine());
            Made made = write();
            if (!Disk.renameToNew(stage.path(), request.to.path())) {
                throw new IntakeException("job directory " + request.to.path() + " appeared meanwhile");
            }
            return made;
        } catch (Throwable e) {
            Prepare.discard(stage, e);
            throw e;
        }
    }

    private Made write() throws IOException {
        Tally lines = RepairedLines.copy(request.repairedLines, stage.repairedLines(), old.quarantined());
        try (RepairReader repairs = new RepairReader(request.from, stage.repairedLines());
                ShardWriter shards = new ShardWriter(stage, old.numShards(), new ReadWatch(() -> true, Progress.NONE));
                QuarantineWriter quarantine = new QuarantineWriter(stage)) {
            RepairedShards repaired = new RepairedShards(request, old, repairs, shards, quarantine);
            repaired.write();
            List<Manifest.Shard> written = shards.finish();
            Disk.syncDirectory(stage.shards());
            StageWriter.Written all = new StageWriter.Written(written, shards.sha256(), quarantine.finish());
            Manifest manifest = manifest(all, lines, repaired.repairedByFile());
            ResultReuse results = new ResultReuse(new JobFiles(request.from), stage);
            int reused = 0;
            for (Manifest.Shard shard : written) {
                reused += !repaired.changed().contains(shard.id()) && results.take(shard.id()) ? 1 : 0;
            }
            return new Made(manifest, reused);
        }
    }

    private Manifest manifest(StageWriter.Written written, Tally lines, Map<String, Long> repaired) throws IOException {
        long rows = repaired.values().stream().mapToLong(Long::longValue).sum();
        if (old.recipe() != null) {
            Disk.replace(stage.recipe(), Disk.read(request.from.recipe()));
        }
        Manifest.File kept =
                new Manifest.File(stage.relative(stage.repairedLines()), lines.rows(), lines.bytes(), lines.sha256());
        Manifest manifest = new Manifest(
                Manifest.SCHEMA_VERSION,
                request.to.name(),
                clock.instant().truncatedTo(ChronoUnit.SECONDS).toString(),
                old.datasetPath(),
                old.mediaRoot(),
                old.mediaKeys(),
                old.indexKeys(),
                old.inputFiles().stream().map(file -> with(repaired, file)).toList(),
                old.totalRows() + rows,
                written.shards().stream().mapToLong(Manifest.Shard::bytes).sum(),
                written.sha256(),
                old.numShards(),
                written.shards(),
                old.recipe(),
                old.codeVersion(),
                old.execution(),
                old.policy(),
                request.output.toString(),
                old.outputForm(),
                old.warnings(),
                written.quarantine(),
                new Manifest.Repair(request.from.path().toString(), kept, rows));
        Disk.replace(stage.manifest(), Json.bytes(manifest));
        return manifest;
    }

    private static Manifest.InputFile with(Map<String, Long> repaired, Manifest.InputFile file) {
        return new Manifest.InputFile(
                file.path(),
                file.size(),
                file.mtimeNs(),
                file.sha256(),
                file.rows() + repaired.getOrDefault(file.path(), 0L));
    }
}
