package dev.caravan.cli;

import dev.caravan.Main;
import dev.caravan.doctor.HelperLink;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/** Starts a helper of the doctor: the same program and Java as a process of its own. */
final class HelperProcess {
    private HelperProcess() {}

    static HelperLink start() throws IOException {
        List<String> command = List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-Xmx64m",
                "-cp",
                System.getProperty("java.class.path"),
                Main.class.getName(),
                "doctor-helper");
        Process process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        Runtime.getRuntime().addShutdownHook(new Thread(process::destroyForcibly));
        return new HelperLink(process.getOutputStream(), process.getInputStream(), process::destroyForcibly);
    }
}
