package dev.caravan.chaos;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;

/** What a machine must have for this test. */
public final class Needs {
    private Needs() {}

    /** @return the first thing that is missing here */
    public static Optional<String> missing() {
        if (Shell.result(Map.of(), "id", "-u").output().trim().equals("0")) {
            for (String tool : new String[] {"glusterfsd", "glusterfs", "unshare", "nsenter", "fallocate"}) {
                if (Shell.result(Map.of(), "sh", "-c", "command -v " + tool).code() != 0) {
                    return Optional.of("there is no " + tool + " here; .ci/run tells the package");
                }
            }
            if (!Files.exists(Path.of("/dev/fuse"))) {
                return Optional.of("there is no /dev/fuse here: nothing can be mounted by a user's process");
            }
            Shell.Result namespaces =
                    Shell.result(Map.of(), "unshare", "-m", "-u", "-p", "-f", "--mount-proc", "hostname", "chaos-0");
            return namespaces.code() == 0
                    ? Optional.empty()
                    : Optional.of("no namespaces can be made here: "
                            + namespaces.output().trim());
        }
        return Optional.of("mounts and namespaces need root");
    }

    /** The library that skews a process's clock; nodes have the true time where it is missing. */
    static Optional<Path> skewedClock() {
        try (var folders = Files.newDirectoryStream(Path.of("/usr/lib"), "*-linux-gnu*")) {
            for (Path folder : folders) {
                Path library = folder.resolve("faketime/libfaketimeMT.so.1");
                if (Files.exists(library)) {
                    return Optional.of(library);
                }
            }
            return Optional.empty();
        } catch (IOException e) {
            return Optional.empty();
        }
    }
}
