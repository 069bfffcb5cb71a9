package dev.caravan.bench;

import static org.assertj.core.api.Assertions.assertThat;

import dev.caravan.shard.DoneRecord;
import dev.caravan.store.JobFiles;
import dev.caravan.store.Layout;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** How long the slowest of three nodes keeps a job from its end, against nodes that all work to the last moment. */
final class TailBenchmark implements Benchmark {
    private static final int UNITS = Integer.getInteger("bench.units", 6);
    private static final int UNIT_MILLIS = Integer.getInteger("bench.unit.millis", 100);

    /** The first unit of each node begins when all nodes are there. */
    private static final String UNIT = """
            up="${0%/*}/up"
            if [ ! -e "$up/$NODE" ]; then : > "$up/$NODE"; fi
            until [ $(ls "$up" | wc -l) -eq 3 ]; do sleep 0.02; done
            sleep "$UNIT_SECONDS"
            cp "$1" "$2"
            """;

    @Override
    public Table run(Bench bench) throws IOException {
        List<List<String>> rows = new ArrayList<>();
        for (int slower : Bench.numbers("bench.slower", "5")) { // each in a run of its own
            List<Integer> millis = List.of(UNIT_MILLIS, UNIT_MILLIS, slower * UNIT_MILLIS);
            double ideal =
                    UNITS / millis.stream().mapToDouble(each -> 1000.0 / each).sum();
            double once = seconds(bench, millis, false);
            double twice = seconds(bench, millis, true);
            rows.add(Stream.concat(
                            Stream.of(UNITS + " of " + UNIT_MILLIS / 1000.0 + " s", slower + " times slower"),
                            Stream.of(ideal, once, twice, once / ideal, twice / ideal)
                                    .map(number -> String.format(Locale.ROOT, "%.2f", number)))
                    .toList());
        }
        return new Table(
                List.of(
                        "units",
                        "one node of 3 is",
                        "ideal, s",
                        "one attempt each, s",
                        "speculate, s",
                        "times the ideal",
                        "times the ideal, speculate"),
                rows);
    }

    /** @return from when all nodes work to the end of the last unit */
    private static double seconds(Bench bench, List<Integer> nodeMillis, boolean speculate) throws IOException {
        Path folder = Files.createTempDirectory(bench.folder(), "tail-");
        Path input = folder.resolve("units.jsonl");
        Files.writeString(
                input,
                IntStream.range(0, UNITS)
                        .mapToObj(unit -> "{\"unit\":%d}\n".formatted(100_000 + unit))
                        .collect(Collectors.joining()));
        Path up = Files.createDirectory(folder.resolve("up"));
        Path script = Files.writeString(folder.resolve("unit.sh"), UNIT);
        Path descriptor = Files.writeString(folder.resolve("job.yaml"), """
                name: tail
                engine: command
                command: [sh, %s, "{input}", "{output}"]
                dataset_path: %s
                num_shards: %d
                policy: {speculate: %s}
                """.formatted(script, input, UNITS, speculate));
        Layout.Job job = new Layout.Job(folder.resolve("job"));
        String nodes = IntStream.range(0, nodeMillis.size())
                .mapToObj(node -> String.format(
                        Locale.ROOT,
                        "NODE=%d UNIT_SECONDS=%.3f %s & pids=\"$pids $!\"; ",
                        node,
                        nodeMillis.get(node) / 1000.0,
                        String.join(
                                " ",
                                Bench.caravan(
                                        "run",
                                        descriptor,
                                        "-Dcaravan.claim.poll=50ms",
                                        "-Dcaravan.claim.heartbeat=500ms",
                                        "-Dcaravan.exec.grace=1s",
                                        "--job-dir",
                                        job.path()))))
                .collect(Collectors.joining());
        bench.run(Bench.shell(nodes + "for pid in $pids; do wait $pid || exit 1; done"));
        assertThat(job.mergedByDefault()).hasSameBinaryContentAs(input);
        JobFiles files = new JobFiles(job);
        Instant last = files.manifest().shards().stream()
                .map(shard -> files.done(shard.id()).orElseThrow())
                .map(DoneRecord::finishedAt)
                .map(Instant::parse)
                .max(Instant::compareTo)
                .orElseThrow();
        Instant all = Instant.EPOCH;
        for (int node = 0; node < nodeMillis.size(); node++) {
            Instant there = Files.getLastModifiedTime(up.resolve(Integer.toString(node)))
                    .toInstant();
            all = there.isAfter(all) ? there : all;
        }
        return (last.toEpochMilli() - all.toEpochMilli()) / 1000.0;
    }
}
