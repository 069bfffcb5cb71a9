package dev.caravan.exec;

import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.camel.component.exec.ExecException;

/** Starts a child as the leader of a session of its own, behind a shell line that ends the session with this process. */
final class ChildProcess {
    /**
     * Slurm tells a whole step, children and all, that its time is up. That is for the node: the child may yet finish,
     * and a signal that it did not expect would end it.
     */
    static final String DEAF_TO_USR1 = "trap '' USR1; ";

    private ChildProcess() {}

    /** @param leash what a shell does before it becomes the child */
    static Process start(Child child, String leash, boolean answers) {
        List<String> command = new ArrayList<>(List.of("setsid", "sh", "-c", leash, "leash"));
        command.addAll(child.command());
        ProcessBuilder.Redirect log = ProcessBuilder.Redirect.appendTo(new File(child.log()));
        ProcessBuilder builder = new ProcessBuilder(command).directory(new File(child.workingDirectory()));
        if (answers) {
            builder.redirectError(log);
        } else {
            builder.redirectErrorStream(true).redirectOutput(log);
        }
        Map<String, String> environment = builder.environment();
        environment.keySet().removeIf(name -> child.cleared().stream().anyMatch(pattern -> matches(pattern, name)));
        environment.putAll(child.environment());
        try {
            return builder.start();
        } catch (IOException e) {
            throw new ExecException(
                    "Unable to start " + child.command().get(0) + ": " + e.getMessage() + " (setsid and sh are needed)",
                    null,
                    null,
                    -1,
                    e);
        }
    }

    private static boolean matches(String pattern, String name) {
        return pattern.endsWith("*")
                ? name.startsWith(pattern.substring(0, pattern.length() - 1))
                : name.equals(pattern);
    }
}
