package dev.caravan.bench;

import static org.assertj.core.api.Assertions.assertThat;

import dev.caravan.shard.ShardForm;
import dev.caravan.shard.ShardId;
import dev.caravan.store.JobFiles;
import dev.caravan.store.Layout;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** From the results of all shards to one verified file. */
final class MergeBenchmark implements Benchmark {
    @Override
    public Table run(Bench bench) throws IOException {
        Path folder = Files.createDirectory(bench.folder().resolve("merge"));
        Path input = WebRecords.write(folder.resolve("input.jsonl"), bench.megabytes());
        Path job = folder.resolve("job");
        bench.run(Bench.caravan(
                "prepare", PrepareBenchmark.descriptor(folder, input, ShardForm.RANGES), "--job-dir", job));
        bench.run(Bench.caravan("worker", "--job-dir", job));
        Path results = results(folder, new JobFiles(new Layout.Job(job)));
        Path ours = folder.resolve("ours.jsonl");
        Path peer = folder.resolve("peer.jsonl");
        Path copy = folder.resolve("copy.jsonl");
        Cost[] cost = bench.best(List.of(
                round -> Bench.peer("merge", results, without(peer)),
                round -> Bench.caravan("merge", "--job-dir", job, "--output", without(ours)),
                round -> Bench.shell("sha256sum '" + input + "' && cp '" + input + "' '" + without(copy) + "'"),
                round -> Bench.shell("sha256sum '" + input + "' && cp '" + input + "' '" + without(copy) + "' && sync '"
                        + copy + "'")));
        assertThat(Files.mismatch(ours, peer))
                .as("where the merged files differ")
                .isEqualTo(-1);
        assertThat(Files.mismatch(ours, input))
                .as("where merged file and input differ")
                .isEqualTo(-1);
        String work = "merge %d MB of %d shards".formatted(bench.megabytes(), 16);
        return Row.table(
                new Row(work, cost[0], cost[1], cost[2], "sha256sum, cp"),
                new Row(work, cost[0], cost[1], cost[3], "sha256sum, cp, sync"));
    }

    private static Path without(Path file) throws IOException {
        Files.deleteIfExists(file);
        return file;
    }

    /** What the peer reads: rows, checksum and path of each result, in order. */
    private static Path results(Path folder, JobFiles job) throws IOException {
        StringBuilder lines = new StringBuilder();
        for (int index = 0; index < 16; index++) {
            var done = job.done(new ShardId(index, 16)).orElseThrow();
            lines.append("%d %s %s%n"
                    .formatted(done.rows(), done.sha256(), job.layout().resolve(done.outputPath())));
        }
        return Files.writeString(folder.resolve("results.txt"), lines);
    }
}
