package dev.caravan.intake;

import dev.caravan.shard.Execution;
import dev.caravan.shard.Manifest;
import dev.caravan.shard.PlanExecute;
import dev.caravan.shard.Script;
import dev.caravan.store.Disk;
import dev.caravan.store.JobFiles;
import dev.caravan.store.Json;
import dev.caravan.store.Layout;
import dev.caravan.store.ScriptFolder;
import dev.caravan.store.SinkRequest;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The input of a job whose script says what is to be done: made once, in the stage, and the job's own from then on. */
final class ScriptInput {
    private final Scripts scripts;
    private final Execution execution;

    /** @param execution with the SHA-256 of the script */
    ScriptInput(Scripts scripts, Execution execution) {
        this.scripts = scripts;
        this.execution = execution;
    }

    /**
     * @param output where the items go, one a line
     * @param counts where it says how many
     */
    record Request(String engine, String script, String output, String counts, Execution execution) {}

    /** The execution of a script that can be run, with its SHA-256. */
    static Execution checked(Scripts scripts, Execution asked) {
        Script script = Objects.requireNonNull(asked.script());
        scripts.check(asked);
        try {
            return asked.with(script.withSha256(files(script).sha256()));
        } catch (IOException e) {
            throw new IntakeException(
                    "cannot read the script " + script.path() + " and what lies in its" + " source_directory: " + e, e);
        }
    }

    private static ScriptFolder files(Script script) throws IOException {
        @Nullable String folder = script.sourceDirectory();
        return ScriptFolder.of(Path.of(script.path()), folder == null ? null : Path.of(folder));
    }

    /** @return how many items the script has named */
    long make(Layout.Job stage, ReadWatch watch) throws IOException {
        collectEarlierRuns();
        long items = write(stage, watch::check);
        if (items == 0) {
            throw new IntakeException(Scripts.NOTHING + script().path());
        }
        return items;
    }

    /** @param check called again and again; may throw to end the work */
    long write(Layout.Job stage, Runnable check) throws IOException {
        Script script = script();
        files(script).copyTo(stage.script());
        String copied = ScriptFolder.snapshot(stage.script()).sha256();
        if (!copied.equals(script.sha256())) {
            throw new InputChangedException("the script " + script.path() + " was changed while it was copied (SHA-256 "
                    + script.sha256() + ", then " + copied + "): prepare again once nobody writes to it");
        }
        Request request = new Request(
                execution.engine().toString(),
                stage.script().resolve(script.name()).toString(),
                stage.plan().toString(),
                stage.planCounts().toString(),
                execution);
        Disk.replace(stage.planRequest(), Json.bytes(request));
        return scripts.plan(stage.planRequest(), check);
    }

    private Script script() {
        return Objects.requireNonNull(execution.script());
    }

    /** What the sink does not know yet of runs that were killed must not be planned again. */
    private void collectEarlierRuns() throws IOException {
        PlanExecute options = execution.planExecute();
        if (options == null || !options.resume() || options.sink() == null) {
            return;
        }
        Layout.Sink sink = new Layout.Sink(Path.of(options.sink()));
        for (String name : Disk.isDirectory(sink.runs()) ? Disk.list(sink.runs()) : List.<String>of()) {
            JobFiles run = new JobFiles(sink.run(name));
            boolean known = Disk.exists(run.layout().mergeRecord())
                    && Disk.exists(run.layout().sinkRows());
            if (!Layout.isHidden(name) && run.manifestIfPresent().isPresent() && !known) {
                scripts.collect(SinkRequest.write(run, sink.path(), false));
            }
        }
    }

    /** Where the job will have what lies in the stage now. */
    record Moved(Layout.Job stage, Layout.Job job) {
        String path(String file) {
            Path path = Path.of(file);
            return path.startsWith(stage.path())
                    ? job.path().resolve(stage.path().relativize(path)).toString()
                    : file;
        }

        List<Manifest.InputFile> files(List<Manifest.InputFile> files) {
            return files.stream()
                    .map(file -> new Manifest.InputFile(
                            path(file.path()), file.size(), file.mtimeNs(), file.sha256(), file.rows()))
                    .toList();
        }

        List<Manifest.Shard> shards(List<Manifest.Shard> shards) {
            return shards.stream()
                    .map(shard -> new Manifest.Shard(
                            shard.id(),
                            shard.path(),
                            shard.ranges().stream()
                                    .map(range ->
                                            new Manifest.Range(path(range.file()), range.offset(), range.length()))
                                    .toList(),
                            shard.rows(),
                            shard.bytes(),
                            shard.sha256()))
                    .toList();
        }
    }
}
