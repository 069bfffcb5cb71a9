package dev.caravan.store;

import java.io.IOException;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.List;
import java.util.Optional;

/**
 * What coordination asks of the shared directory, and nothing more. {@link Disk#SHARED} is the real one; simulations use
 * a model that is late, forgetful and out of space.
 */
public interface SharedDirectory {
    /** Makes an exclusive fact. @return whether this call made it */
    boolean publish(Path target, byte[] content) throws IOException;

    /** Replaces a fact that only its owner rewrites. */
    void replace(Path target, byte[] content) throws IOException;

    Optional<byte[]> readIfPresent(Path file) throws IOException;

    /** @throws StoreException if the mount cannot say */
    boolean exists(Path file);

    /** Names in a directory; none if it does not exist. */
    List<String> list(Path directory) throws IOException;

    FileTime lastModified(Path file) throws IOException;

    /** Sets the file's time; fails if there is no such file. */
    void touch(Path file, FileTime time) throws IOException;
}
