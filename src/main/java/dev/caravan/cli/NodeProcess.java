package dev.caravan.cli;

import dev.caravan.Main;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Starts another node of the same program, Java and settings as a process of its own. */
final class NodeProcess {
    private NodeProcess() {}

    static Process start(Path root, Path log) throws IOException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        System.getProperties().forEach((key, value) -> {
            if (key.toString().startsWith("caravan.")) {
                command.add("-D" + key + "=" + value);
            }
        });
        command.addAll(List.of(
                "-cp",
                System.getProperty("java.class.path"),
                Main.class.getName(),
                "node",
                "--root",
                root.toString(),
                "--once"));
        return new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()))
                .start();
    }
}
