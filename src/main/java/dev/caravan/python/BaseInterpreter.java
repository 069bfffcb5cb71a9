package dev.caravan.python;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A Python on the {@code PATH} that an environment can be made from.
 *
 * @param version major and minor, as in 3.11
 */
record BaseInterpreter(Path executable, String version) {
    private static final List<String> NAMES =
            List.of("python3", "python3.13", "python3.12", "python3.11", "python3.10");
    private static final Set<String> VERSIONS = Set.of("3.10", "3.11", "3.12", "3.13");
    private static final String PROBE =
            "import sys; print('%d.%d' % sys.version_info[:2]); print(sys.executable); import venv, ensurepip";
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    /** @throws PythonException naming each Python that was looked at and why it does not do */
    static BaseInterpreter find(Map<String, String> environment) {
        List<String> found = new ArrayList<>();
        for (String name : NAMES) {
            Path program = Command.onPath(environment.get("PATH"), name);
            if (program == null) {
                continue;
            }
            Command.Result probe = Command.of(environment, program, "-c", PROBE).run(PATIENCE);
            String[] said = probe.out().strip().split("\n");
            String version = said[0].strip();
            if (probe.ok() && VERSIONS.contains(version)) {
                // what the name stands for: a version manager's name may stand for another Python tomorrow
                return new BaseInterpreter(said.length > 1 ? Path.of(said[1].strip()) : program, version);
            }
            if (version.isEmpty()) {
                found.add(program + " does not run:\n" + probe.said());
            } else if (VERSIONS.contains(version)) {
                found.add(program + " (" + version
                        + ") has no venv module: install it, on Debian and Ubuntu with apt install python" + version
                        + "-venv");
            } else {
                found.add(program + " is Python " + version);
            }
        }
        throw new PythonException(
                "no Python to make the environment from: expected Python 3.10 to 3.13 with its venv module"
                        + " on the PATH, found " + (found.isEmpty() ? "none" : String.join("; ", found))
                        + ". Install one, or set python.executable to an environment with py-data-juicer and ray[default]");
    }
}
