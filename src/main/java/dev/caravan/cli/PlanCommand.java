package dev.caravan.cli;

import dev.caravan.CaravanException;
import dev.caravan.job.JobDescriptor;
import dev.caravan.node.Node;
import dev.caravan.settings.Durations;
import dev.caravan.settings.Settings;
import dev.caravan.shard.Forecast;
import dev.caravan.store.JobFiles;
import dev.caravan.store.Json;
import dev.caravan.store.Layout;
import dev.caravan.store.LocalFolder;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
        name = "plan",
        mixinStandardHelpOptions = true,
        description = {
            "Works on a few runs of records from random places of a job's input, on this machine, and tells how many"
                    + " shards to ask for, how long the job will take, and how much memory and disk it needs.",
            "",
            "What it makes lies in the setting exec.scratch and is removed again. It reads no"
                    + " compressed input, and cannot sample records with relative media paths.",
            ""
        })
final class PlanCommand implements Callable<Integer> {
    @Parameters(paramLabel = "JOB.yaml", description = "The job descriptor; relative paths start at its folder.")
    Path descriptor;

    @Option(
            names = "--sample",
            paramLabel = "N",
            arity = "0..1",
            defaultValue = "4",
            fallbackValue = "4",
            description =
                    "How many units are measured, of 1 MiB each, less of a small input; some more are worked on to warm up."
                            + " Default: ${DEFAULT-VALUE}.")
    int units;

    @Option(
            names = "--nodes",
            paramLabel = "N",
            defaultValue = "1",
            description = "How many machines like this one will work. Default: ${DEFAULT-VALUE}.")
    int nodes;

    @Option(
            names = "--slots",
            paramLabel = "N",
            description = "Shards at once on each of them, and in the sample. Default: the setting node.slots.")
    @Nullable
    Integer slots;

    @Option(
            names = "--job-dir",
            paramLabel = "DIR",
            description = "The job directory to be (ROOT/jobs/NAME with an inbox): the forecast is kept beside it; with"
                    + " num_shards: auto the job is cut by it, and status compares it with what comes.")
    @Nullable
    Path jobDir;

    @Option(names = "--json", description = "The forecast as one JSON object on stdout.")
    boolean json;

    @Mixin
    SettingsOptions settings = new SettingsOptions();

    @Override
    public Integer call() throws IOException {
        requireAtLeastOne("--sample", units);
        requireAtLeastOne("--nodes", nodes);
        if (slots != null) {
            requireAtLeastOne("--slots", slots);
            System.setProperty("caravan.node.slots", slots.toString());
        }
        Settings loaded = settings.load();
        JobDescriptor asked = Descriptors.read(descriptor);
        try (LocalFolder folder = LocalFolder.in(Node.scratch(loaded))) {
            Forecast forecast = new PlanRun(loaded, asked, folder.newFolder("plan")).forecast(units, nodes);
            if (jobDir != null) {
                new JobFiles(new Layout.Job(jobDir)).keep(forecast);
            }
            print(forecast);
        }
        return CaravanCommand.DONE;
    }

    private static void requireAtLeastOne(String option, int value) {
        if (value < 1) {
            throw new CaravanException(option + " must be a whole number of at least 1, not " + value);
        }
    }

    private void print(Forecast forecast) {
        if (json) {
            System.out.println(Json.line(forecast));
            return;
        }
        line("input   %,d bytes, about %,d records", forecast.inputBytes(), forecast.records());
        line("shards  %d suggested (num_shards)", forecast.shards());
        line(
                "time    about %s on %d node(s) with %d slot(s); %s to %s by the quickest and the slowest of %d units",
                duration(forecast.seconds()),
                forecast.nodes(),
                forecast.slots(),
                duration(forecast.fewestSeconds()),
                duration(forecast.mostSeconds()),
                forecast.units().size());
        long memory = forecast.costs().memoryBytes();
        line(
                "memory  %s",
                memory == 0
                        ? "not seen: the processes of the engine end too soon"
                        : "%,d bytes at most on a machine, all its slots together".formatted(memory));
        line(
                "disk    %,d bytes: shards %,d, results %,d, the merged file as much again",
                forecast.shardBytes() + 2 * forecast.resultBytes(), forecast.shardBytes(), forecast.resultBytes());
    }

    private static void line(String format, Object... values) {
        System.out.println(String.format(Locale.ROOT, format, values));
    }

    /** Minutes are exact enough for what takes many of them. */
    private static String duration(double seconds) {
        long whole = (long) Math.ceil(seconds);
        return Durations.format(Duration.ofSeconds(whole < 600 ? whole : (whole + 59) / 60 * 60));
    }
}
