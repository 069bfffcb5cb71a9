package dev.caravan.store;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Optional;

/** What this user may do with a directory. */
public final class Access {
    private Access() {}

    /** The deepest directory of a path that exists, which may be the path itself. */
    public static Path existing(Path path) {
        Path existing = path.toAbsolutePath().normalize();
        while (!Files.exists(existing) && existing.getParent() != null) {
            existing = existing.getParent();
        }
        return existing;
    }

    /** Why files cannot be made in a directory, with its owner, mode and mount; empty if they can. */
    public static Optional<String> whyNotWritable(Path directory) throws IOException {
        if (!Files.isDirectory(directory)) {
            return Optional.of(directory + " is not a directory");
        }
        if (Files.isWritable(directory) && Files.isExecutable(directory)) {
            return Optional.empty();
        }
        Mount mount = Mount.of(directory);
        if (mount.isReadOnly()) {
            return Optional.of(directory + " cannot be written: " + mount + " is mounted read-only (ro)");
        }
        return Optional.of(directory + " cannot be written by user " + user() + ": " + owner(directory));
    }

    private static String user() {
        return System.getProperty("user.name", "?");
    }

    private static String owner(Path directory) throws IOException {
        PosixFileAttributes found =
                Files.readAttributes(directory, PosixFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
        return "it belongs to " + found.owner().getName() + ":" + found.group().getName() + " with mode "
                + PosixFilePermissions.toString(found.permissions());
    }
}
