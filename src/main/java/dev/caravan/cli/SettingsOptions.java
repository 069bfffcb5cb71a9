package dev.caravan.cli;

import dev.caravan.settings.Settings;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Option;

/** Where settings come from; the same for all commands that need any. */
final class SettingsOptions {
    @Option(
            names = "--configs",
            paramLabel = "PATH",
            description =
                    "A settings file, or a folder with a caravan.yaml; may be repeated. Default: $CARAVAN_CONFIGS.")
    List<Path> configs = new ArrayList<>();

    @Option(
            names = "-D",
            paramLabel = "KEY=VALUE",
            description = "Sets one setting, such as -Dcaravan.claim.lease=8s.",
            mapFallbackValue = "")
    Map<String, String> properties = Map.of();

    Settings load() {
        properties.forEach(System::setProperty);
        List<Path> paths = new ArrayList<>(configs);
        String fromEnvironment = System.getenv("CARAVAN_CONFIGS");
        if (paths.isEmpty() && fromEnvironment != null && !fromEnvironment.isEmpty()) {
            paths.add(Path.of(fromEnvironment));
        }
        return Settings.load(paths, System.getenv(), System.getProperties());
    }
}
