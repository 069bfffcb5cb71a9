package dev.caravan.python;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;

/**
 * Programs that answer as Python, pip and uv do, so that locks, moves and messages are tested in milliseconds and
 * without the network. The real ones are in {@link PythonSetupIT}.
 */
final class StandInPython {
    private final Path folder;

    StandInPython(Path folder) throws IOException {
        this.folder = Files.createDirectories(folder);
    }

    Path folder() {
        return folder;
    }

    /** What a step of the set-up has written down, one line each. */
    List<String> journal() throws IOException {
        Path journal = folder.resolve("journal");
        return Files.exists(journal) ? Files.readAllLines(journal) : List.of();
    }

    /** A python3 of this version that makes environments; its uv waits for the file {@code gate}, if one is given. */
    StandInPython thatInstalls(String version, Path gate) throws IOException {
        String uv = """
                #!/bin/sh
                if [ "$1" = venv ]; then
                  for last in "$@"; do :; done
                  mkdir -p "$last/bin"
                  cp "%1$s/answers" "$last/bin/python"
                else
                  echo installed >> "%1$s/journal"
                  i=0
                  while [ -n "%2$s" ] && [ ! -e "%2$s" ] && [ $i -lt 600 ]; do i=$((i+1)); sleep 0.05; done
                  echo "Installed 115 packages in 1s" >&2
                fi
                """.formatted(folder, gate == null ? "" : gate);
        script("uv-program", uv);
        script("answers", answers("1.6.1"));
        script("python3", """
                #!/bin/sh
                case "$1 $2" in
                  "-c "*) echo %2$s ;;
                  "-m venv") mkdir -p "$3/bin"; cp "$0" "$3/bin/python"; cp "%1$s/uv-program" "$3/bin/uv" ;;
                esac
                """.formatted(folder, version));
        return this;
    }

    /** A python3 that runs and then fails for want of a module. */
    StandInPython thatHasNoVenv(String version) throws IOException {
        script("python3", "#!/bin/sh\necho " + version + "\necho \"No module named 'ensurepip'\" >&2\nexit 1\n");
        return this;
    }

    /** An environment whose runner answers, and counts how often it is asked about a recipe. */
    Path thatAnswers(String codeVersion) throws IOException {
        return script("python", answers(codeVersion));
    }

    private String answers(String codeVersion) {
        return """
                #!/bin/sh
                if [ "$3" = info ]; then
                  echo '{"python": "3.11.7", "executable": "/env/python", "data_juicer": "1.6.1", "ray": "2.60.0", "code_version": "%2$s"}'
                else
                  echo "asked" >> "%1$s/journal"
                  echo '{"ok": true, "problems": [], "warnings": ["mind"], "operators": [{"name": "a_mapper", "kind": "mapper", "num_gpus": 0.5}], "media_keys": {"image": "images"}, "index_keys": ["row"], "dataset_path": null, "custom_operator_paths": [], "needs_gpu": true, "side_effects": false, "code_version": "%2$s"}'
                fi
                """.formatted(folder, codeVersion);
    }

    private Path script(String name, String text) throws IOException {
        Path part = folder.resolve(name + ".part");
        Files.writeString(part, text);
        Files.setPosixFilePermissions(part, PosixFilePermissions.fromString("rwxr-xr-x"));
        return Files.move(part, folder.resolve(name), java.nio.file.StandardCopyOption.REPLACE_EXISTING);
    }
}
