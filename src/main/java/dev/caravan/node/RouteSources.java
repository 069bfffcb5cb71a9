package dev.caravan.node;

import dev.caravan.CaravanException;
import dev.caravan.store.Disk;
import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The routes of a node. The packaged ones are defaults; a file of the same name in the user's folder replaces one, any
 * other file there adds routes.
 */
final class RouteSources {
    static final List<String> PACKAGED = List.of(
            "errors.camel.yaml",
            "intake.camel.yaml",
            "claim.camel.yaml",
            "exec.camel.yaml",
            "finalize.camel.yaml",
            "node.camel.yaml");

    /** Only where an HTTP server runs: its endpoints cannot be made without one. */
    static final String HTTP = "http.camel.yaml";

    private static final String SUFFIX = ".camel.yaml";

    private RouteSources() {}

    /** For {@code camel.main.routesIncludePattern}: exact names, so nothing on the class path is searched. */
    static String pattern(String folder, boolean http) {
        Map<String, String> byName = new LinkedHashMap<>();
        PACKAGED.forEach(name -> byName.put(name, "classpath:routes/" + name));
        if (http) {
            byName.put(HTTP, "classpath:routes/" + HTTP);
        }
        if (!folder.isEmpty()) {
            Path own = Path.of(folder).toAbsolutePath();
            if (!Disk.isDirectory(own)) {
                throw new CaravanException("node.routes: no such folder: " + own);
            }
            try {
                Disk.list(own).stream()
                        .filter(name -> name.endsWith(SUFFIX) && (http || !name.equals(HTTP)))
                        .forEach(name -> byName.put(name, "file:" + own.resolve(name)));
            } catch (IOException e) {
                throw new CaravanException("node.routes: cannot list " + own + ": " + e.getMessage(), e);
            }
        }
        return String.join(",", byName.values());
    }
}
