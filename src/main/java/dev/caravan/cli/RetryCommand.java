package dev.caravan.cli;

import dev.caravan.CaravanException;
import dev.caravan.claim.Requeue;
import dev.caravan.node.Identities;
import dev.caravan.shard.ShardId;
import dev.caravan.store.JobFiles;
import dev.caravan.store.Layout;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
        name = "retry",
        mixinStandardHelpOptions = true,
        description =
                "Gives failed shards a new budget, after the cause was removed. Running nodes go on by themselves.")
final class RetryCommand implements Callable<Integer> {
    @Option(names = "--job-dir", required = true, paramLabel = "DIR", description = "The job directory.")
    Path jobDir;

    @ArgGroup(multiplicity = "1")
    Which which = new Which();

    static final class Which {
        @Option(names = "--all-failed", required = true, description = "All shards that have failed for good.")
        boolean allFailed;

        @Option(
                names = "--shard-id",
                required = true,
                paramLabel = "ID",
                description = "This shard, such as part-00003-of-00016; may be repeated.")
        List<String> shardIds = new ArrayList<>();
    }

    @Override
    public Integer call() throws IOException {
        JobFiles job = new JobFiles(new Layout.Job(jobDir));
        job.manifest();
        Requeue requeue = new Requeue(job, Identities.of(""));
        List<ShardId> shards = which.allFailed
                ? requeue.allFailed()
                : which.shardIds.stream().map(RetryCommand::parse).toList();
        requeue.requeue(shards);
        System.err.println(shards.isEmpty() ? "no failed shard: nothing to retry" : "requeued " + shards);
        return CaravanCommand.DONE;
    }

    private static ShardId parse(String text) {
        try {
            return ShardId.parse(text);
        } catch (IllegalArgumentException e) {
            throw new CaravanException("--shard-id: " + e.getMessage(), e);
        }
    }
}
