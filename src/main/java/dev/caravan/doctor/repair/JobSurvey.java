package dev.caravan.doctor.repair;

import dev.caravan.finalize.Merger;
import dev.caravan.finalize.OutputFiles;
import dev.caravan.shard.Manifest;
import dev.caravan.shard.MergeRecord;
import dev.caravan.shard.RoleResult;
import dev.caravan.shard.ShardId;
import dev.caravan.store.Disk;
import dev.caravan.store.Evidence;
import dev.caravan.store.JobFiles;
import dev.caravan.store.Layout;
import dev.caravan.store.NewFile;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** One look at all of a job. Changes nothing. */
final class JobSurvey {
    private final JobFiles files;
    private final Layout.Job job;
    private final List<Case> cases = new ArrayList<>();
    private @Nullable Boolean merged;

    JobSurvey(JobFiles files) {
        this.files = files;
        this.job = files.layout();
    }

    /** @param deep shards whose results are read to the end */
    List<Case> look(Predicate<ShardId> deep) throws IOException {
        stages();
        coordination();
        if (files.isCleaned()) {
            return cases; // what is not there was removed on purpose
        }
        Optional<Records.Read<Manifest>> manifest = Records.read(job.manifest(), Manifest.class);
        if (manifest.isPresent() && manifest.get().value() == null) {
            cases.add(Case.person(
                    job.relative(job.manifest()),
                    "torn (" + Records.torn(manifest.get()) + ")",
                    "nothing can be done without it: prepare the job again in a new directory"));
        } else if (manifest.isPresent()) {
            prepared(manifest.get().value(), deep);
        } else if (Disk.exists(job.path())) {
            files.manifest(); // says what is missing
        }
        return cases;
    }

    private void prepared(@Nullable Manifest manifest, Predicate<ShardId> deep) throws IOException {
        if (manifest == null) {
            return;
        }
        StateReader state = new StateReader(job, manifest);
        cases.addAll(state.read());
        merge(manifest);
        Map<ShardId, ShardState> shards = state.shards();
        for (Manifest.Shard planned : manifest.shards()) {
            ShardState shard = shards.get(planned.id());
            if (shard != null) {
                cases.addAll(
                        new ShardSurvey(job, manifest, this::isMerged).of(shard, planned, deep.test(planned.id())));
            }
        }
        cases.addAll(new AttemptSurvey(job, shards).survey());
        for (Path folder : List.of(job.path(), job.shards())) {
            cases.addAll(Records.unfinished(job, folder));
        }
    }

    private void stages() throws IOException {
        Path parent = job.path().getParent();
        for (String name : parent == null ? List.<String>of() : Disk.list(parent)) {
            if (job.isStage(name)) {
                cases.add(Records.unfinished(job, parent.resolve(name), "a stage of prepare"));
            }
        }
    }

    private void coordination() throws IOException {
        for (String id : Disk.list(job.coordination())) {
            Layout.Generation generation = job.generation(id);
            cases.addAll(Records.unfinished(job, generation.path()));
            for (Path result : List.of(generation.prepareResult(), generation.finalizeResult())) {
                Optional<Records.Read<RoleResult>> read = Records.read(result, RoleResult.class);
                if (read.isPresent() && read.get().value() == null) {
                    cases.add(Case.person(
                            result.toString(),
                            "torn (" + Records.torn(read.get()) + ")",
                            "nodes cannot read how the role ended: start again with a new --run-id"));
                }
            }
        }
    }

    private void merge(Manifest manifest) throws IOException {
        Path output = Path.of(manifest.output());
        Path file = job.mergeRecord();
        Optional<Records.Read<MergeRecord>> read = Records.read(file, MergeRecord.class);
        MergeRecord record = read.map(Records.Read::value).orElse(null);
        if (read.isPresent() && record == null) {
            cases.add(Case.fixable(
                    job.relative(file),
                    "torn (" + Records.torn(read.get()) + ")",
                    "status stops at it; caravan merge writes it anew from the results",
                    "moves it to state/history",
                    Evidence.of(file),
                    bench -> bench.moveAside(file)));
        } else if (record != null) {
            output = Path.of(record.output());
            OptionalLong found = OutputFiles.size(record);
            if (!found.equals(OptionalLong.of(record.sizeBytes()))) {
                cases.add(Case.person(
                        job.relative(file),
                        "its output " + output + " of " + record.sizeBytes() + " bytes is "
                                + (found.isEmpty() ? "not there" : "of " + found.getAsLong() + " bytes"),
                        "if nobody moved or changed it on purpose: caravan merge --job-dir " + job.path()
                                + " makes it again (--overwrite if another file is there)"));
            }
        }
        for (Path unpublished : NewFile.unpublished(output, Merger.maker(files))) {
            cases.add(Records.unfinished(job, unpublished, "an unfinished merge"));
        }
    }

    /** Whether the merged output is what its record says; read at most once, and only if a result is in doubt. */
    private boolean isMerged() throws IOException {
        if (merged == null) {
            MergeRecord record = Records.read(job.mergeRecord(), MergeRecord.class)
                    .map(Records.Read::value)
                    .orElse(null);
            merged = record != null
                    && OutputFiles.size(record).equals(OptionalLong.of(record.sizeBytes()))
                    && OutputFiles.sha256(record).equals(record.sha256());
        }
        return merged;
    }
}
