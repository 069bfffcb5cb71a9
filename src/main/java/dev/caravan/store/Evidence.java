package dev.caravan.store;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** What tells whether somebody works on a file or folder: the same text after a lease means that nobody does. */
public final class Evidence {
    private Evidence() {}

    /** Of a file, or of everything below a folder. */
    public static String of(Path path) throws IOException {
        long files = 0;
        long bytes = 0;
        long newest = Long.MIN_VALUE;
        try (Stream<Path> all = Files.walk(path)) {
            for (Path one : (Iterable<Path>) all::iterator) {
                BasicFileAttributes found =
                        Files.readAttributes(one, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
                files++;
                bytes += found.isRegularFile() ? found.size() : 0;
                newest = Math.max(newest, found.lastModifiedTime().to(TimeUnit.NANOSECONDS));
            }
        } catch (NoSuchFileException e) {
            return "changing";
        } catch (UncheckedIOException e) {
            if (e.getCause() instanceof NoSuchFileException) {
                return "changing";
            }
            throw e.getCause();
        }
        return files + " files, " + bytes + " bytes, last written at " + newest;
    }

    /** Whether there is no file with content below a folder. */
    public static boolean isHollow(Path folder) throws IOException {
        try (Stream<Path> all = Files.walk(folder)) {
            return all.allMatch(Files::isDirectory);
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
    }
}
