package dev.caravan.cli;

import dev.caravan.CaravanException;
import dev.caravan.intake.Scripts;
import dev.caravan.shard.RoleResult;
import dev.caravan.store.Disk;
import dev.caravan.store.GenerationFiles;
import dev.caravan.store.JobFiles;
import dev.caravan.store.Json;
import dev.caravan.store.Layout;
import dev.caravan.store.SinkRequest;
import java.io.IOException;
import java.util.Optional;

/** How a run of {@code caravan compute} ended. */
final class ComputeReport {
    private static final int SOME_FAILED = 1;
    private static final int INTERRUPTED = 130;

    private final JobFiles job;
    private final Layout.Sink sink;
    private final Layout.Generation generation;
    private final Scripts scripts;

    ComputeReport(JobFiles job, Layout.Sink sink, Layout.Generation generation, Scripts scripts) {
        this.job = job;
        this.sink = sink;
        this.generation = generation;
        this.scripts = scripts;
    }

    /** @return the exit code */
    int print(ComputeResults.Form form, boolean here, boolean interrupted) throws IOException {
        Optional<RoleResult> prepared = new GenerationFiles(generation).prepareResult();
        if (prepared.isPresent() && !prepared.get().ok()) {
            String why = String.valueOf(prepared.get().error());
            if (!why.startsWith(Scripts.NOTHING)) {
                throw new CaravanException(why);
            }
            System.err.println("caravan: " + why);
            summarize(ComputeResults.NONE, form);
            return CaravanCommand.DONE;
        }
        if (job.manifestIfPresent().isEmpty()) {
            System.err.println("caravan: left while plan() ran; nothing was computed");
            return interrupted ? INTERRUPTED : CaravanCommand.NOT_FINISHED;
        }
        boolean merged = job.merged().isPresent();
        if (!merged || !Disk.exists(job.layout().sinkRows())) {
            scripts.collect(SinkRequest.write(job, sink.path(), interrupted));
        }
        ComputeResults found = ComputeResults.of(job.layout(), here ? form : ComputeResults.Form.quiet, System.out);
        summarize(found, here ? form : ComputeResults.Form.quiet);
        System.err.println("caravan: " + found);
        if (!merged && !interrupted) {
            throw new CaravanException("the run did not end: "
                    + job.failures().stream()
                            .findFirst()
                            .map(failed -> failed.summary())
                            .orElse("this host was told to leave, or waited for others in vain")
                    + "; what is done is kept where there is a --sink, and --resume goes on");
        }
        return interrupted && !merged ? INTERRUPTED : found.allWell() ? CaravanCommand.DONE : SOME_FAILED;
    }

    private static void summarize(ComputeResults found, ComputeResults.Form form) {
        if (form == ComputeResults.Form.summary) {
            System.out.println(Json.line(found));
        }
    }
}
