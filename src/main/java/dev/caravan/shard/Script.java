package dev.caravan.shard;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A Python file of the user's that an engine runs. Prepare copies it into the job directory, and the copy is what runs.
 *
 * @param path absolute
 * @param sourceDirectory folder that the script needs and lies in, absolute; null for a script that needs only itself
 * @param workingDirectory where it runs, absolute
 * @param arguments what it finds in {@code sys.argv} behind its name
 * @param sha256 of its files, names and contents; null until prepare has read them
 */
public record Script(
        String path,
        @Nullable String sourceDirectory,
        String workingDirectory,
        List<String> arguments,
        @Nullable String sha256) {

    public Script {
        arguments = List.copyOf(arguments);
    }

    /** Where the script lies among its files. */
    public String name() {
        return sourceDirectory == null
                ? path.substring(path.lastIndexOf('/') + 1)
                : path.substring(sourceDirectory.length() + 1);
    }

    public Script withSha256(String found) {
        return new Script(path, sourceDirectory, workingDirectory, arguments, found);
    }
}
