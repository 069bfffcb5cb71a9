package dev.caravan.cli;

import dev.caravan.CaravanException;
import dev.caravan.intake.InputSample;
import dev.caravan.intake.Preparation;
import dev.caravan.intake.Progress;
import dev.caravan.job.JobDescriptor;
import dev.caravan.node.Node;
import dev.caravan.node.NodePlan;
import dev.caravan.node.PythonLink;
import dev.caravan.settings.Settings;
import dev.caravan.shard.DoneRecord;
import dev.caravan.shard.Forecast;
import dev.caravan.shard.Manifest;
import dev.caravan.shard.OutputForm;
import dev.caravan.shard.ShardForm;
import dev.caravan.store.JobFiles;
import dev.caravan.store.Layout;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.OptionalInt;
import java.util.function.UnaryOperator;
import java.util.random.RandomGenerator;

/** Works on samples of a job's input as a node does, in throw-away jobs, and measures. */
final class PlanRun {
    private static final long MOST_UNIT_BYTES = 1 << 20;
    /** Shards of one record, of which the quickest tells what each shard costs: others lose time to the machine. */
    private static final int SINGLES = 3;

    /** The sample is at most this part of the input, unless records are few. */
    private static final long LEAST_SHARE = 10;

    private final Settings settings;
    private final JobDescriptor asked;
    private final Path folder;
    private final PythonLink python;
    private final Preparation preparation;
    private final int slots;

    /** @param folder for all that is made here */
    PlanRun(Settings settings, JobDescriptor asked, Path folder) {
        this.settings = settings;
        this.asked = asked;
        this.folder = folder;
        this.python = PythonLink.of(settings, false);
        this.slots = settings.integer("node.slots");
        this.preparation = new Preparation(
                python::recipe, python, () -> false, settings.size("intake.shard_bytes"), job -> slots, folder);
    }

    /** A shard that was worked on. */
    private record Measured(Manifest.Shard shard, DoneRecord done) {
        Instant began() {
            return Instant.parse(done.finishedAt()).minus(Duration.ofNanos((long) (done.seconds() * 1e9)));
        }

        double seconds() {
            return done.seconds();
        }

        Forecast.Unit unit() {
            return new Forecast.Unit(shard.rows(), shard.bytes(), done.sizeBytes(), done.seconds());
        }
    }

    /** In the order in which they began; the first of each slot had to start the engine. */
    private record Work(Manifest manifest, List<Measured> all) {
        List<Measured> first(int slots) {
            return all.subList(0, slots);
        }

        List<Measured> later(int slots) {
            return all.subList(slots, all.size());
        }
    }

    Forecast forecast(int units, int nodes) throws IOException {
        try (PeakMemory memory = new PeakMemory()) {
            return forecast(units, nodes, memory);
        }
    }

    private Forecast forecast(int units, int nodes, PeakMemory memory) throws IOException {
        InputSample input = InputSample.of(preparation.dataset(asked));
        Work single = work("start", input, slots + SINGLES, 1);
        double least = single.later(slots).stream()
                .mapToDouble(Measured::seconds)
                .min()
                .orElseThrow();
        double first = single.first(slots).stream()
                .mapToDouble(Measured::seconds)
                .average()
                .orElseThrow();
        int all = units + slots;
        long unitBytes = Math.min(MOST_UNIT_BYTES, Math.max(1, input.bytes() / LEAST_SHARE / all));
        Work sample = work("units", input, all, unitBytes);
        return Forecast.of(
                new Forecast.Job(
                        input.bytes(),
                        sample.manifest().shardForm() == ShardForm.FILES,
                        nodes,
                        slots,
                        Forecast.Work.of(sample.manifest())),
                new Forecast.Costs(Math.max(0, first - least), least, memory.bytes()),
                sample.later(slots).stream().map(Measured::unit).toList());
    }

    private Work work(String name, InputSample input, int shards, long runBytes) throws IOException {
        Path dataset = folder.resolve(name + ".jsonl");
        long lines = input.write(dataset, shards, runBytes, RandomGenerator.getDefault());
        if (lines < shards) {
            throw new CaravanException("the sample has " + lines + " lines that are not blank, and a plan needs one for"
                    + " each of its " + shards + " shards: is this input JSON Lines?");
        }
        Layout.Job job = new Layout.Job(folder.resolve(name));
        JobDescriptor sample = new JobDescriptor(
                name,
                0,
                asked.execution().withoutCheckpoint(),
                asked.recipe(),
                dataset.toString(),
                null,
                OutputForm.FILE,
                shards,
                asked.shardForm(),
                asked.policy());
        Manifest manifest =
                preparation.prepare(sample, job, () -> true, Progress.NONE).manifest();
        new Node(settings, NodePlan.forWorker(job, OptionalInt.empty(), UnaryOperator.identity()), python).run();
        return new Work(manifest, measured(new JobFiles(job), manifest));
    }

    private static List<Measured> measured(JobFiles files, Manifest manifest) throws IOException {
        files.failures().stream().findFirst().ifPresent(failed -> {
            throw new CaravanException("the job fails on a sample of its input: " + failed.summary());
        });
        List<Measured> measured = new ArrayList<>();
        for (Manifest.Shard shard : manifest.shards()) {
            DoneRecord done = files.done(shard.id())
                    .orElseThrow(() -> new CaravanException("the plan was told to leave before it was made"));
            measured.add(new Measured(shard, done));
        }
        measured.sort(Comparator.comparing(Measured::began));
        return measured;
    }
}
