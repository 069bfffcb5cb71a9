package dev.caravan.cli;

import dev.caravan.CaravanException;
import java.io.PrintWriter;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.IVersionProvider;

/** {@code caravan}: what all commands share. */
@Command(
        name = "caravan",
        mixinStandardHelpOptions = true,
        versionProvider = CaravanCommand.Version.class,
        description = {
            "Cuts JSONL input into shards, processes them on many machines that share nothing but a directory,"
                    + " and merges the results in order.",
            ""
        },
        footer = {
            "",
            "Exit codes: 0 done, 1 not finished yet (status; run and worker that were told to leave), 2 error or terminal failure.",
            "Start with: caravan quickstart"
        },
        subcommands = {
            QuickstartCommand.class,
            NodeCommand.class,
            SubmitCommand.class,
            RunCommand.class,
            PrepareCommand.class,
            WorkerCommand.class,
            StatusCommand.class,
            RetryCommand.class,
            RerunCommand.class,
            MergeCommand.class,
            VerifyCommand.class,
            DoctorCommand.class,
            DoctorHelperCommand.class,
            PythonCommand.class
        })
public final class CaravanCommand {
    static final int DONE = 0;
    static final int NOT_FINISHED = 1;
    static final int FAILED = 2;

    private CaravanCommand() {}

    /** @return the exit code */
    public static int run(String... args) {
        return new CommandLine(new CaravanCommand())
                .setExecutionExceptionHandler(CaravanCommand::explain)
                .setUsageHelpAutoWidth(true)
                .execute(args);
    }

    /** A message for a known trouble, a stack trace only for a fault of our own. */
    private static int explain(Exception failure, CommandLine command, CommandLine.ParseResult parsed) {
        PrintWriter err = command.getErr();
        if (failure instanceof CaravanException) {
            err.println("caravan: " + failure.getMessage());
        } else {
            err.println("caravan: " + failure);
            failure.printStackTrace(err);
        }
        err.flush();
        return FAILED;
    }

    static final class Version implements IVersionProvider {
        @Override
        public String[] getVersion() {
            String version = CaravanCommand.class.getPackage().getImplementationVersion();
            return new String[] {"caravan " + (version == null ? "(unpackaged)" : version)};
        }
    }
}
