package dev.caravan.cli;

import dev.caravan.python.PythonEnvironment;
import dev.caravan.python.PythonInfo;
import dev.caravan.store.Json;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
        name = "python",
        mixinStandardHelpOptions = true,
        synopsisSubcommandLabel = "(setup | info)",
        description = "The Python environment that runs Data-Juicer on Ray.",
        subcommands = {PythonCommand.Setup.class, PythonCommand.Info.class})
final class PythonCommand {

    @Command(
            name = "setup",
            mixinStandardHelpOptions = true,
            description =
                    "Makes the environment, unless it is there: Data-Juicer and Ray from a pinned list with hashes.")
    static final class Setup implements Callable<Integer> {
        @Option(names = "--json", description = "One JSON object on stdout.")
        boolean json;

        @Mixin
        SettingsOptions settings = new SettingsOptions();

        @Override
        public Integer call() {
            print(environment(settings).setup(System.err::println), json);
            return CaravanCommand.DONE;
        }
    }

    @Command(name = "info", mixinStandardHelpOptions = true, description = "Shows the environment; makes nothing.")
    static final class Info implements Callable<Integer> {
        @Option(names = "--json", description = "One JSON object on stdout.")
        boolean json;

        @Mixin
        SettingsOptions settings = new SettingsOptions();

        @Override
        public Integer call() {
            print(environment(settings).info(), json);
            return CaravanCommand.DONE;
        }
    }

    private static PythonEnvironment environment(SettingsOptions settings) {
        return PythonEnvironment.of(settings.load().text("python.executable"));
    }

    private static void print(PythonInfo info, boolean json) {
        if (json) {
            System.out.println(Json.line(info));
            return;
        }
        System.out.println("python       " + info.python() + " (" + info.executable() + ")");
        System.out.println("data-juicer  " + info.dataJuicer() + " (" + info.codeVersion() + ")");
        System.out.println("ray          " + info.ray());
    }
}
