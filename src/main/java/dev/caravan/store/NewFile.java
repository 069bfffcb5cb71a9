package dev.caravan.store;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.UUID;

/**
 * A large file while it is written: hidden beside its target, so on the same file system, until it is complete and gets
 * the target's name. Closing removes whatever has not been published.
 */
public final class NewFile implements AutoCloseable {
    private static final String PREFIX = ".caravan-";

    private final Path target;
    private final Path temporary;
    private final FileChannel channel;
    private final Linking linking;

    /** How a mount makes a second name for a file; some cannot. */
    @FunctionalInterface
    interface Linking {
        void link(Path name, Path existing) throws IOException;
    }

    private NewFile(Path target, Path temporary, FileChannel channel, Linking linking) {
        this.target = target;
        this.temporary = temporary;
        this.channel = channel;
        this.linking = linking;
    }

    /** @param maker tells apart those who write to the same folder; letters and digits */
    public static NewFile beside(Path target, String maker) throws IOException {
        return beside(target, maker, Files::createLink);
    }

    static NewFile beside(Path target, String maker, Linking linking) throws IOException {
        Path temporary = temporary(target, maker);
        return new NewFile(
                target,
                temporary,
                FileChannel.open(temporary, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE),
                linking);
    }

    /** Removes what a killed process of the same maker left. One that still writes will fail to publish. */
    public static void removeAbandoned(Path target, String maker) throws IOException {
        for (Path unpublished : unpublished(target, maker)) {
            if (Files.isDirectory(unpublished)) {
                removeFolder(unpublished);
            } else {
                Files.deleteIfExists(unpublished);
            }
        }
    }

    /** Takes its name away first, so that whoever still fills it cannot publish what is left of it. */
    private static void removeFolder(Path unpublished) throws IOException {
        Path aside = unpublished.resolveSibling(unpublished.getFileName() + "-abandoned");
        try {
            Disk.rename(unpublished, aside);
        } catch (NoSuchFileException published) {
            return;
        }
        Disk.deleteTree(aside);
    }

    /** A folder that is unpublished as long as it has this name. */
    public static Path folderBeside(Path target, String maker) throws IOException {
        return Files.createDirectory(temporary(target, maker));
    }

    private static Path temporary(Path target, String maker) {
        return target.resolveSibling(PREFIX + maker + "-" + UUID.randomUUID());
    }

    /** What the same maker writes just now, or left when it was killed. */
    public static List<Path> unpublished(Path target, String maker) throws IOException {
        Path folder = target.toAbsolutePath().getParent();
        return Disk.list(folder).stream()
                .filter(name -> name.startsWith(PREFIX + maker + "-"))
                .map(folder::resolve)
                .toList();
    }

    /** Writes a part at its place; any number of threads may. */
    public void write(byte[] part, int length, long position) throws IOException {
        ByteBuffer bytes = ByteBuffer.wrap(part, 0, length);
        while (bytes.hasRemaining()) {
            channel.write(bytes, position + bytes.position());
        }
    }

    /**
     * Gives the file its name if nothing has that name yet; complete and on the disk before it does.
     *
     * @return whether the target is now this file
     */
    public boolean publish() throws IOException {
        complete();
        try {
            linking.link(target, temporary);
        } catch (FileAlreadyExistsException e) {
            return isTarget();
        } catch (NoSuchFileException e) {
            throw removed(e);
        } catch (UnsupportedOperationException | FileSystemException e) {
            if (!Disk.meansNoLinks(e)) {
                throw e;
            }
            return publishWithoutLinks(e);
        }
        Disk.syncDirectory(target.toAbsolutePath().getParent());
        return true;
    }

    /** A network may lose the answer to a link that succeeded and ask again. */
    private boolean isTarget() throws IOException {
        try {
            return Files.isSameFile(target, temporary);
        } catch (NoSuchFileException removed) {
            return false;
        }
    }

    /** Reserves the name with an empty file and renames over it: nobody else can reserve it meanwhile. */
    private boolean publishWithoutLinks(Exception noLinks) throws IOException {
        try {
            Files.createFile(target);
        } catch (FileAlreadyExistsException e) {
            return false;
        } catch (IOException e) {
            e.addSuppressed(noLinks);
            throw e;
        }
        try {
            replaceTarget();
        } catch (IOException | StoreException e) {
            Files.deleteIfExists(target);
            throw e;
        }
        return true;
    }

    /** Gives the file its name in place of whatever has it; readers see the old file or the new one. */
    public void replace() throws IOException {
        complete();
        replaceTarget();
    }

    private void replaceTarget() throws IOException {
        try {
            Disk.rename(temporary, target);
        } catch (NoSuchFileException e) {
            throw removed(e);
        }
    }

    private void complete() throws IOException {
        channel.force(true);
        channel.close();
        if (!Files.exists(temporary)) {
            throw removed(new NoSuchFileException(temporary.toString()));
        }
    }

    /** The other process may come at any moment: before the name is given, or while it is. */
    private StoreException removed(IOException cause) {
        return new StoreException(
                "the unfinished " + target + " was removed by another process that writes the same"
                        + " file; let one of them end, then run this again",
                cause);
    }

    @Override
    public void close() throws IOException {
        try {
            channel.close();
        } finally {
            Files.deleteIfExists(temporary);
        }
    }
}
