package dev.caravan.e2e;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Ways to run a process in a world that is not as usual. Where one cannot be had the test is skipped, and says why. */
final class Trick {
    static final int NOBODY = 65_534;

    private Trick() {}

    /** The system calls fail with the error in the process and all that it starts. */
    static List<String> failing(String calls, String error) {
        requireRun(
                "system calls cannot be made to fail", "strace", "-e", "inject=" + calls + ":error=" + error, "true");
        return List.of(
                "strace", "-f", "-o", "/dev/null", "-e", "trace=" + calls, "-e", "inject=" + calls + ":error=" + error);
    }

    /** As a user who owns nothing. */
    static List<String> asNobody() {
        List<String> wrapper = List.of("setpriv", "--reuid=" + NOBODY, "--regid=" + NOBODY, "--clear-groups", "--");
        requireRun("needs root to become another user", append(wrapper, "true"));
        for (var file : Fleet.programFiles()) {
            requireRun(
                    "other users cannot read " + file + ", so cannot run it",
                    append(wrapper, "test", "-r", file.toString()));
        }
        return wrapper;
    }

    /** With a process namespace of its own: its process id there is a small number, the same each time. */
    static List<String> inOwnProcessNamespace(String hostname) {
        List<String> wrapper = List.of(
                "unshare",
                "-m",
                "-u",
                "-p",
                "-f",
                "--mount-proc",
                "--kill-child",
                "sh",
                "-c",
                "hostname " + hostname + "; exec \"$@\"",
                "sh");
        requireRun("needs root to make namespaces", append(wrapper, "true"));
        return wrapper;
    }

    /** With a mount of its own, seen by nobody else. */
    static List<String> withMount(String folder, String... mount) {
        List<String> wrapper = List.of(
                "unshare",
                "-m",
                "sh",
                "-c",
                "mount " + String.join(" ", mount) + " '" + folder + "' && exec \"$@\"",
                "sh");
        requireRun("needs root to mount", append(wrapper, "true"));
        return wrapper;
    }

    private static String[] append(List<String> wrapper, String... command) {
        String[] all = wrapper.toArray(new String[wrapper.size() + command.length]);
        System.arraycopy(command, 0, all, wrapper.size(), command.length);
        return all;
    }

    static void requireRun(String otherwise, String... command) {
        String trouble;
        try {
            Process process = new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .start();
            boolean ended = process.waitFor(60, TimeUnit.SECONDS);
            trouble = !ended ? "it hangs" : process.exitValue() == 0 ? "" : "exit code " + process.exitValue();
        } catch (IOException e) {
            trouble = String.valueOf(e.getMessage());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
        String why = "skipped: " + otherwise + " here (" + trouble + ": " + String.join(" ", command) + ")";
        assumeTrue(trouble.isEmpty(), why);
    }
}
