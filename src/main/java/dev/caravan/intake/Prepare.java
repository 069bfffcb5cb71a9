package dev.caravan.intake;

import dev.caravan.CaravanException;
import dev.caravan.jsonl.BadJsonlException;
import dev.caravan.jsonl.Blocks;
import dev.caravan.jsonl.Sha256;
import dev.caravan.shard.Manifest;
import dev.caravan.shard.OutputForm;
import dev.caravan.shard.ShardForm;
import dev.caravan.store.Disk;
import dev.caravan.store.JobFiles;
import dev.caravan.store.Json;
import dev.caravan.store.Layout;
import dev.caravan.store.SourceTree.Stamp;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Clock;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Turns input into a job directory that is complete from its first moment. Where its records may stay as they are the
 * input is read once, and shards are ranges of it, or files if that is asked for; else once to check and measure it and
 * once to write the shards. Memory does not grow with the number of records. All work is done in a stage directory of
 * this call alone: what the job does not allow ends it before there is a job, and a second preparer does no harm, since
 * the one that renames its stage first makes the job.
 */
public final class Prepare {
    private static final Logger LOG = LoggerFactory.getLogger(Prepare.class);

    private final Clock clock;
    private final BooleanSupplier stillOwner;
    private final Progress progress;
    private String cannotBeRanges = "";

    /** @param stillOwner asked every few megabytes; false ends the work with {@link PrepareAbortedException} */
    public Prepare(Clock clock, BooleanSupplier stillOwner, Progress progress) {
        this.clock = clock;
        this.stillOwner = stillOwner;
        this.progress = progress;
    }

    /**
     * @throws BadJsonlException if the input holds a line that is not a record and is not to be set aside
     * @throws dev.caravan.packing.DamagedException if a compressed file cannot be unpacked
     * @throws InputChangedException if somebody writes to the input meanwhile
     * @throws PrepareAbortedException if this node is not to prepare any more
     * @throws IntakeException for everything else that the user must decide
     */
    public Prepared run(PrepareRequest request) {
        ReadWatch watch = new ReadWatch(stillOwner, progress);
        try {
            refuseOverlap(request.job(), request.output(), request.outputForm(), request.datasetPath());
            CheckpointRules.check(request);
            Optional<Manifest> existing = existing(request.job());
            return existing.isPresent()
                    ? new ExistingJob(existing.get(), request)
                            .compareByReading(
                                    InputFiles.find(request.datasetPath()).files(), watch)
                    : make(request, watch);
        } catch (IOException e) {
            throw new IntakeException(
                    "prepare of " + request.job().path() + " failed: "
                            + e.getClass().getSimpleName() + ": " + e.getMessage()
                            + ". Nothing was prepared; check that the file or directory is there, readable, and that"
                            + " the disk is not full, then prepare again",
                    e);
        }
    }

    private Prepared make(PrepareRequest request, ReadWatch watch) throws IOException {
        Layout.Job stage = new Layout.Job(request.job().stage(UUID.randomUUID().toString()));
        try {
            if (request.made() == null) {
                return make(request, InputFiles.find(request.datasetPath()), stage, watch);
            }
            Disk.createDirectories(stage.path());
            long items = request.made().make(stage, watch);
            return make(request.reading(stage.plan(), items), InputFiles.find(stage.plan()), stage, watch);
        } catch (Throwable e) {
            discard(stage, e);
            throw e;
        }
    }

    private Prepared make(PrepareRequest asked, InputFiles input, Layout.Job stage, ReadWatch watch)
            throws IOException {
        long size = 0;
        for (Path file : input.files()) {
            size += Stamp.of(file).size();
        }
        PrepareRequest request = asked.ofInput(size);
        watch.expect(size);
        ParallelScan.@Nullable Found found = unchanged(request, input, stage, watch);
        if (found == null) {
            watch.giveUp();
            watch.expect(2 * size);
        }
        Scan scan = found == null ? Scan.of(request, input, watch) : found.scan();
        if (found == null && request.shardForm() == ShardForm.RANGES) {
            throw new IntakeException("shards of this input cannot be ranges of it, since " + cannotBeRanges
                    + ": leave out 'shards: ranges', or ask for 'shards: files'");
        }
        createDirectories(stage, found == null);
        StageWriter writer = new StageWriter(request, scan, stage, watch);
        StageWriter.Written written = found == null ? writer.write(input) : writer.keep(input, found);
        Manifest manifest = write(request, input, scan, stage, written);
        watch.check();
        if (Disk.renameToNew(stage.path(), request.job().path())) {
            return new Prepared.Made(manifest);
        }
        Disk.deleteTree(stage.path());
        Manifest winner = existing(request.job())
                .orElseThrow(() -> new IntakeException(
                        "job directory " + request.job().path() + " appeared and vanished again; prepare again"));
        // of two preparers each has asked the script, and may have got another answer: the first one's counts
        return new ExistingJob(winner, asked.reading(Path.of(manifest.datasetPath()), winner.totalRows()))
                .compare(asked.made() == null ? scan.files() : winner.inputFiles());
    }

    static void discard(Layout.Job stage, Throwable cause) {
        try {
            Disk.deleteTree(stage.path());
        } catch (IOException e) {
            cause.addSuppressed(e);
        }
    }

    /** Null if records must change, for the reason that is kept for messages. */
    private ParallelScan.@Nullable Found unchanged(
            PrepareRequest request, InputFiles input, Layout.Job stage, ReadWatch watch) throws IOException {
        try {
            ParallelScan.Found found = ParallelScan.of(request, input, stage, watch);
            if (request.shardForm() != ShardForm.FILES) {
                LOG.info("job {}: shards are ranges of the input, since no record must change", request.jobId());
            }
            return found;
        } catch (MustCopy | Blocks.LongLineException e) {
            cannotBeRanges = String.valueOf(e.getMessage());
            Disk.deleteTree(stage.shards());
            LOG.info("job {}: shards are files, since {}", request.jobId(), cannotBeRanges);
            return null;
        }
    }

    private Manifest write(
            PrepareRequest request, InputFiles input, Scan scan, Layout.Job stage, StageWriter.Written written)
            throws IOException {
        List<String> warnings = new ArrayList<>(request.recipeWarnings());
        warnings.addAll(input.skipped());
        warnings.addAll(scan.warnings());
        RecipeFacts recipe = request.recipe();
        ScriptInput.Moved moved = new ScriptInput.Moved(stage, request.job());
        Manifest manifest = new Manifest(
                Manifest.SCHEMA_VERSION,
                request.jobId(),
                clock.instant().truncatedTo(ChronoUnit.SECONDS).toString(),
                moved.path(request.datasetPath().toString()),
                moved.path(input.root().toString()),
                request.mediaKeys(),
                request.indexKeys(),
                moved.files(scan.files()),
                scan.rows(),
                scan.bytes(),
                written.sha256(),
                scan.shards(),
                moved.shards(written.shards()),
                recipe == null ? null : snapshot(recipe, stage),
                recipe == null ? null : recipe.codeVersion(),
                request.execution(),
                request.policy(),
                request.output().toString(),
                request.outputForm(),
                warnings,
                written.quarantine(),
                null);
        Disk.replace(stage.manifest(), Json.bytes(manifest));
        return manifest;
    }

    private static Manifest.Recipe snapshot(RecipeFacts recipe, Layout.Job stage) throws IOException {
        Disk.replace(stage.recipe(), recipe.content());
        return new Manifest.Recipe(
                recipe.source().toString(), stage.relative(stage.recipe()), Sha256.hex(recipe.content()));
    }

    static void createDirectories(Layout.Job stage, boolean withShards) throws IOException {
        if (withShards) {
            Disk.createDirectories(stage.shards());
        }
        List<Path> directories = List.of(
                stage.attempts(),
                stage.cache(),
                stage.locks(),
                stage.speculative(),
                stage.doneRecords(),
                stage.failedRecords(),
                stage.history());
        for (Path directory : directories) {
            Disk.createDirectories(directory);
        }
        Disk.syncDirectory(stage.state());
        Disk.syncDirectory(stage.path());
    }

    private static Optional<Manifest> existing(Layout.Job job) {
        Optional<Manifest> manifest = new JobFiles(job).manifestIfPresent();
        if (manifest.isEmpty() && Disk.exists(job.path())) {
            throw new IntakeException("job directory " + job.path()
                    + " exists but holds no manifest.json, so it is not a prepared job: expected a name that is free."
                    + " Choose a new --job-dir, or remove the directory if nothing in it is needed");
        }
        return manifest;
    }

    /** What a job writes must not be found as input the next time. */
    static void refuseOverlap(Layout.Job job, Path output, OutputForm form, Path dataset) {
        if (job.path().startsWith(dataset)) {
            throw overlap("job directory", job.path(), dataset);
        }
        if (output.startsWith(dataset) && (form == OutputForm.PARTS || InputFiles.isInputName(output))) {
            throw overlap("output", output, dataset);
        }
    }

    private static CaravanException overlap(String what, Path path, Path dataset) {
        return new IntakeException(what + " " + path + " lies in the dataset path " + dataset
                + ", so its files would be read as input; choose a place outside");
    }
}
