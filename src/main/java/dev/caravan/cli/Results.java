package dev.caravan.cli;

import dev.caravan.shard.MergeRecord;
import dev.caravan.shard.OperatorRows;
import dev.caravan.status.JobStatus;
import dev.caravan.status.StatusText;
import dev.caravan.store.JobFiles;
import dev.caravan.store.Json;

/** Prints how a job ended: for people, or one JSON object for programs. */
final class Results {
    private Results() {}

    /** @return the exit code */
    static int report(JobStatus ended, JobFiles job, boolean json) {
        if (ended.state() == JobStatus.State.DONE) {
            job.merged().ifPresent(merged -> print(merged, json));
        } else if (json) {
            System.out.println(Json.line(ended.withoutShardLines()));
        } else {
            System.err.print(StatusText.of(ended, false));
        }
        return ended.exitCode();
    }

    static void print(MergeRecord merged, boolean json) {
        if (json) {
            System.out.println(Json.line(merged));
            return;
        }
        System.out.println("output  " + merged.output());
        System.out.println("rows    " + merged.rows());
        System.out.println("ledger  " + merged.ledger());
        for (OperatorRows operator : merged.operators()) {
            System.out.printf("  %s: %d in, %d out%n", operator.name(), operator.rowsIn(), operator.rowsOut());
        }
        if (merged.quarantined() > 0) {
            System.out.println("bad     " + merged.quarantined() + " records of the input are quarantined");
        }
        System.out.println("sha256  " + merged.sha256());
        merged.warnings().forEach(warning -> System.out.println("warning " + warning));
        for (MergeRecord.Part part : merged.shards()) {
            System.out.printf("%s  %8d rows  %s%n", part.id(), part.rows(), part.node());
        }
        System.out.printf(
                "PASS: %d shards were completed by %d node(s)%n",
                merged.shards().size(), merged.nodes().size());
    }
}
