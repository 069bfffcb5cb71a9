package dev.caravan.python;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Fills one folder with a virtual environment that holds exactly what requirements.lock says. */
final class Installation {
    private static final Duration STEP = Duration.ofMinutes(10);
    private static final Duration INSTALL = Duration.ofMinutes(90);
    /** pip's names of what is set in its files and variables, as {@code pip config list} prints them. */
    private static final Pattern PIP_SETTING =
            Pattern.compile("^[^=]*\\.(index-url|extra-index-url|find-links|cert)='(.*)'$");

    private static final Map<String, String> UV_NAMES = Map.of(
            "index-url", "UV_DEFAULT_INDEX",
            "extra-index-url", "UV_INDEX",
            "find-links", "UV_FIND_LINKS",
            "cert", "SSL_CERT_FILE");

    private final BaseInterpreter base;
    private final Map<String, String> environment;
    private final Consumer<String> progress;

    Installation(BaseInterpreter base, Map<String, String> environment, Consumer<String> progress) {
        this.base = base;
        this.environment = new TreeMap<>(environment);
        this.environment.put("UV_PYTHON_DOWNLOADS", "never");
        this.environment.put("UV_NO_CONFIG", "1");
        this.environment
                .keySet()
                .removeAll(List.of("VIRTUAL_ENV", "PYTHONPATH", "PYTHONHOME", "PYTHONDONTWRITEBYTECODE"));
        this.progress = progress;
    }

    /** @return seconds it took */
    double into(Path folder) throws IOException {
        long start = System.nanoTime();
        byte[] lock = RunnerFiles.read(RunnerFiles.LOCK);
        long packages = new String(lock, java.nio.charset.StandardCharsets.UTF_8)
                .lines()
                .filter(line -> line.contains("=="))
                .count();
        Path tool = folder.resolve("bootstrap");
        Path requirements = Files.write(folder.resolve(RunnerFiles.LOCK), lock);
        Path bootstrap =
                Files.write(folder.resolve(RunnerFiles.BOOTSTRAP_LOCK), RunnerFiles.read(RunnerFiles.BOOTSTRAP_LOCK));
        progress.accept("Python environment, step 1 of 3: the installer, with " + base.executable() + " ("
                + base.version() + ")");
        step(STEP, base.executable(), "-m", "venv", tool.toString());
        Path python = tool.resolve("bin").resolve("python");
        step(
                STEP,
                python,
                "-m",
                "pip",
                "install",
                "--quiet",
                "--disable-pip-version-check",
                "--require-hashes",
                "-r",
                bootstrap.toString());
        askPipForMirrors(python);
        Path uv = tool.resolve("bin").resolve("uv");
        Path venv = folder.resolve("venv");
        progress.accept("Python environment, step 2 of 3: an empty environment");
        step(
                STEP,
                uv,
                "venv",
                "--quiet",
                "--relocatable",
                "--python",
                base.executable().toString(),
                venv.toString());
        progress.accept("Python environment, step 3 of 3: Data-Juicer, Ray and what they need (up to " + packages
                + " packages, about 1 GB)");
        step(
                INSTALL,
                uv,
                "pip",
                "install",
                "--python",
                venv.resolve("bin").resolve("python").toString(),
                "--require-hashes",
                "--compile-bytecode",
                "--build-constraints",
                requirements.toString(),
                "-r",
                requirements.toString());
        RunnerFiles.delete(tool);
        return (System.nanoTime() - start) / 1e9;
    }

    private Command.Result step(Duration timeout, Path program, String... arguments) {
        Command command = Command.of(environment, program, arguments);
        Command.Result result = command.run(timeout, this::pass);
        if (!result.ok()) {
            throw new PythonException("the Python environment could not be made: " + command + " ended with "
                    + result.status() + ":\n" + result.said()
                    + "\nIt needs the network (or a mirror: PIP_INDEX_URL) and about 2 GB of disk."
                    + " Correct that and run caravan python setup again,"
                    + " or set python.executable to an environment with py-data-juicer and ray[default]");
        }
        return result;
    }

    /** uv's own summary lines: Resolved, Prepared, Installed, Bytecode compiled. */
    private void pass(String line) {
        if (line.matches("(Resolved|Prepared|Installed|Bytecode compiled) .*")) {
            progress.accept("  " + line.strip());
        }
    }

    /** uv does not read pip's settings, but a mirror that is set for pip is meant for all that is installed. */
    private void askPipForMirrors(Path python) {
        List<String> names = new ArrayList<>();
        step(STEP, python, "-m", "pip", "config", "list").out().lines().forEach(line -> {
            Matcher setting = PIP_SETTING.matcher(line);
            if (setting.matches() && !setting.group(2).isBlank()) {
                String value = setting.group(1).equals("cert")
                        ? setting.group(2)
                        : setting.group(2).strip().replaceAll("(\\\\n|\\s)+", " ");
                if (environment.putIfAbsent(UV_NAMES.get(setting.group(1)), value) == null) {
                    names.add(setting.group(1));
                }
            }
        });
        if (!names.isEmpty()) {
            progress.accept("  using pip's " + String.join(", ", names));
        }
    }
}
