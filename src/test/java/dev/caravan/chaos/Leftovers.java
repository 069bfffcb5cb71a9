package dev.caravan.chaos;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Temporary files at the end. A node that is killed, or loses its mount, between writing a fact and naming it leaves one
 * {@code .tmp-} file; any other is a fault of the program, and so is each stage of prepare and each unfinished merge.
 */
record Leftovers(int ofFaults, List<String> unexplained) {

    static Leftovers below(Path root, Timeline timeline) throws IOException {
        int explained = 0;
        List<String> unexplained = new ArrayList<>();
        List<Path> found;
        try (var files = Files.walk(root)) {
            found = files.filter(file -> isTemporary(file.getFileName().toString()))
                    .toList();
        }
        for (Path file : found) {
            long written = Files.getLastModifiedTime(file).toMillis();
            if (file.getFileName().toString().startsWith(".tmp-") && timeline.explainsFileOf(written)) {
                explained++;
            } else {
                unexplained.add("left behind: " + file + ", written %tT.%<tL".formatted(written));
            }
        }
        return new Leftovers(explained, unexplained);
    }

    private static boolean isTemporary(String name) {
        return name.startsWith(".tmp-") || name.startsWith(".caravan-") || name.contains(".preparing.");
    }
}
