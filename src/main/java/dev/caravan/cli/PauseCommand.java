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
        name = "pause",
        mixinStandardHelpOptions = true,
        description = "Lets nobody claim anything of a job any more; what runs goes on to its end.")
final class PauseCommand implements Callable<Integer> {
    @Mixin
    JobChoice job = new JobChoice();

    @Override
    public Integer call() throws IOException {
        JobFiles files = job.files();
        new JobControl(files, Identities.of(""), Clock.systemUTC()).pause();
        System.err.println(files.layout().name() + " is paused");
        return CaravanCommand.DONE;
    }
}
