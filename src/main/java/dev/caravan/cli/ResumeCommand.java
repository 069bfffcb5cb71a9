package dev.caravan.cli;

import dev.caravan.claim.JobControl;
import dev.caravan.node.Identities;
import dev.caravan.store.JobFiles;
import java.io.IOException;
import java.time.Clock;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

@Command(name = "resume", mixinStandardHelpOptions = true, description = "Lets nodes go on with a paused job.")
final class ResumeCommand implements Callable<Integer> {
    @Mixin
    JobChoice job = new JobChoice();

    @Override
    public Integer call() throws IOException {
        JobFiles files = job.files();
        new JobControl(files, Identities.of(""), Clock.systemUTC()).resume();
        System.err.println(files.layout().name() + " is resumed");
        return CaravanCommand.DONE;
    }
}
