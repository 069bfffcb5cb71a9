package dev.caravan.cli;

import dev.caravan.CaravanException;
import dev.caravan.status.JobStatus;
import dev.caravan.store.Json;
import java.io.PrintWriter;
import java.util.List;
import java.util.Map;
import java.util.Optional;
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
        })
public final class CaravanCommand {
    static final int DONE = 0;
    static final int NOT_FINISHED = 1;
    static final int FAILED = 2;

    private static final List<Class<?>> COMMANDS = List.of(
            QuickstartCommand.class,
            NodeCommand.class,
            SubmitCommand.class,
            PlanCommand.class,
            RunCommand.class,
            ComputeCommand.class,
            PrepareCommand.class,
            WorkerCommand.class,
            StatusCommand.class,
            WatchCommand.class,
            RetryCommand.class,
            RerunCommand.class,
            PauseCommand.class,
            ResumeCommand.class,
            CancelCommand.class,
            MergeCommand.class,
            VerifyCommand.class,
            CleanCommand.class,
            DoctorCommand.class,
            DoctorHelperCommand.class,
            PythonCommand.class);

    private CaravanCommand() {}

    /** @return the exit code */
    public static int run(String... args) {
        Optional<StatusCommand> status = StatusCommand.plain(List.of(args));
        return status.isPresent() ? run(status.get()) : parsed(args);
    }

    private static int run(StatusCommand status) {
        // sets JSON up meanwhile, which takes as long as to read the settings
        new Thread(() -> Json.line(JobStatus.unreadable("", "", ""))).start();
        try {
            return status.call();
        } catch (Exception e) {
            return explain(e, new PrintWriter(System.err, true));
        }
    }

    private static int parsed(String... args) {
        new Thread(() -> Json.line(Map.of())).start(); // sets JSON up meanwhile, which nearly all commands need
        CommandLine caravan = new CommandLine(new CaravanCommand());
        commands(args).forEach(caravan::addSubcommand);
        return caravan.setExecutionExceptionHandler((failure, command, parsed) -> explain(failure, command.getErr()))
                .setUsageHelpAutoWidth(true)
                .execute(args);
    }

    /** The one that is asked for, since to look at the options of all takes longer than most of them; else all. */
    private static List<Class<?>> commands(String... args) {
        List<Class<?>> asked = COMMANDS.stream()
                .filter(command -> args.length > 0 && isCalled(command, args[0]))
                .toList();
        return asked.isEmpty() ? COMMANDS : asked;
    }

    private static boolean isCalled(Class<?> command, String name) {
        Command called = command.getAnnotation(Command.class);
        return called.name().equals(name) || List.of(called.aliases()).contains(name);
    }

    /** A message for a known trouble, a stack trace only for a fault of our own. */
    private static int explain(Exception failure, PrintWriter err) {
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
