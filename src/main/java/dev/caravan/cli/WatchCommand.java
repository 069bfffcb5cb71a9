package dev.caravan.cli;

import dev.caravan.CaravanException;
import dev.caravan.status.JobStatus;
import dev.caravan.status.OverviewText;
import dev.caravan.status.ReadModel;
import dev.caravan.status.StatusText;
import dev.caravan.store.Layout;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
        name = "watch",
        mixinStandardHelpOptions = true,
        description = {
            "Shows how things go, read from the directory alone: all jobs and nodes of a root until it is interrupted,",
            "or one job until it has ended; then it exits with 0 done, 2 failed or cancelled."
        })
final class WatchCommand implements Callable<Integer> {
    private static final Duration LOOK_EVERY = Duration.ofSeconds(2);
    private static final String CLEAR = "\u001b[H\u001b[2J";

    @ArgGroup(multiplicity = "1")
    Which which = new Which();

    static final class Which {
        @Option(names = "--root", required = true, paramLabel = "DIR", description = "The shared root.")
        @Nullable
        Path root;

        @Option(names = "--job-dir", required = true, paramLabel = "DIR", description = "The job directory.")
        @Nullable
        Path jobDir;
    }

    @Mixin
    SettingsOptions settings = new SettingsOptions();

    @Override
    public Integer call() throws IOException {
        Duration staleAfter = settings.load().duration("claim.lease");
        if (which.jobDir != null) {
            JobStatus ended = Waiting.untilEnded(new Layout.Job(which.jobDir), staleAfter, () -> true, () -> {});
            System.out.print(StatusText.of(ended, false));
            return ended.exitCode();
        }
        watch(ReadModel.ofRoot(new Layout.Root(which.root), staleAfter, Clock.systemUTC()));
        return CaravanCommand.DONE;
    }

    private static void watch(ReadModel model) throws IOException {
        boolean terminal = System.console() != null;
        String last = "";
        while (true) {
            String now = OverviewText.of(model.jobs(), model.nodes());
            if (terminal) {
                System.out.print(CLEAR + now);
                System.out.flush();
            } else if (!now.equals(last)) {
                System.out.println(now);
            }
            last = now;
            try {
                Thread.sleep(LOOK_EVERY.toMillis());
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new CaravanException("interrupted", e);
            }
        }
    }
}
