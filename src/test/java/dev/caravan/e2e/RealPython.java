package dev.caravan.e2e;

import dev.caravan.python.PythonEnvironment;
import dev.caravan.python.PythonInfo;
import dev.caravan.store.Disk;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The Python environment of the tests, made anew by the first one of a run that needs it. */
final class RealPython {
    static final Path CACHE = Path.of("target", "python-cache").toAbsolutePath();

    /** Where its programs may keep what they want. */
    static final Path XDG_CACHE = CACHE.resolveSibling("xdg");

    static final PythonEnvironment ENVIRONMENT = PythonEnvironment.of("", CACHE);

    /** What was said while it was made. */
    static final List<String> SAID = new ArrayList<>();

    private static PythonInfo info;

    private RealPython() {}

    /** Not a constant: another thread speaks while it is made, and would wait for the class for ever. */
    static synchronized PythonInfo info() {
        if (info == null) {
            info = make();
        }
        return info;
    }

    private static PythonInfo make() {
        try {
            Disk.deleteTree(CACHE);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return ENVIRONMENT.setup(line -> {
            SAID.add(line);
            System.out.println(line);
        });
    }
}
