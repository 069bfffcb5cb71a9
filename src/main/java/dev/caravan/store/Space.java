package dev.caravan.store;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Room that is left for this user.
 *
 * @param bytes free
 * @param inodes free; null where the file system does not count them
 */
public record Space(long bytes, @Nullable Long inodes) {
    public static Space of(Path directory) throws IOException {
        return new Space(freeBytes(directory), inodes(directory));
    }

    public static long freeBytes(Path directory) throws IOException {
        return Files.getFileStore(directory).getUsableSpace();
    }

    /** Java does not tell; {@code stat -f} asks the same system call. */
    private static @Nullable Long inodes(Path directory) {
        try {
            Process stat = new ProcessBuilder("stat", "-f", "-c", "%c %d", directory.toString())
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            stat.getOutputStream().close();
            String answer = new String(stat.getInputStream().readAllBytes(), StandardCharsets.US_ASCII).strip();
            if (!stat.waitFor(10, TimeUnit.SECONDS) || !answer.matches("\\d+ \\d+") || answer.startsWith("0 ")) {
                return null;
            }
            return Long.parseLong(answer.substring(answer.indexOf(' ') + 1));
        } catch (IOException | NumberFormatException noSuchCommand) {
            return null;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return null;
        }
    }
}
