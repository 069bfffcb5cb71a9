package dev.caravan.cli;

import dev.caravan.claim.JobControl;
import dev.caravan.node.Identities;
import dev.caravan.store.JobFiles;
import java.io.IOException;
import java.time.Clock;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

@Command(
        name = "cancel",
        mixinStandardHelpOptions = true,
        description = "Ends a job for good: running attempts are ended within seconds, and nothing is merged.")
final class CancelCommand implements Callable<Integer> {
    @Mixin
    JobChoice job = new JobChoice();

    @Override
    public Integer call() throws IOException {
        JobFiles files = job.files();
        new JobControl(files, Identities.of(""), Clock.systemUTC()).cancel();
        System.err.println(files.layout().name() + " is cancelled");
        return CaravanCommand.DONE;
    }
}
