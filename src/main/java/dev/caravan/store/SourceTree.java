package dev.caravan.store;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * Everything below a folder of input, links followed. Each real file and folder is met once: first all that lies in
 * the folder itself, then what links lead to, link by link in the order of their paths; so the answer is the same on
 * every host. Hidden entries are named but not entered. Nothing in a name is a pattern.
 */
public final class SourceTree {
    public enum Kind {
        FILE,
        HIDDEN,
        /** Leads to a file or folder that was met before. */
        LINK_TO_SEEN,
        BROKEN_LINK,
        /** Neither file nor folder nor link: a socket, a pipe, a device. */
        SPECIAL
    }

    /**
     * @param relative to the folder, with {@code /} between names; a byte of a name that is no UTF-8 as {@code \xff}
     * @param faithful whether every node finds the file by {@code relative}; false if a name is not UTF-8, or is more
     *     than ASCII and {@linkplain #readsUtf8Names this Java does not read such names}
     */
    public record Entry(Path path, String relative, boolean faithful, Kind kind) {}

    /** @param mtimeNs nanoseconds since the epoch, on the file system's clock */
    public record Stamp(long size, long mtimeNs) {
        public static Stamp of(Path file) throws IOException {
            BasicFileAttributes found = Files.readAttributes(file, BasicFileAttributes.class);
            return new Stamp(found.size(), found.lastModifiedTime().to(TimeUnit.NANOSECONDS));
        }
    }

    private static final String CHARSET_OF_NAMES = System.getProperty("sun.jnu.encoding", "");

    private record Place(Path path, String relative, Path real, boolean faithful) {}

    private final List<Entry> entries = new ArrayList<>();
    private final Set<Path> seen = new HashSet<>();
    private final Deque<Place> folders = new ArrayDeque<>();
    private final PriorityQueue<Place> links = new PriorityQueue<>(Comparator.comparing(Place::relative));

    private SourceTree() {}

    /** False in a locale of another character set: then all names but those in ASCII look broken. */
    public static boolean readsUtf8Names() {
        return CHARSET_OF_NAMES.equalsIgnoreCase("UTF-8");
    }

    /** As Java calls it. */
    public static String charsetOfNames() {
        return CHARSET_OF_NAMES;
    }

    /** In no particular order. */
    public static List<Entry> of(Path folder) throws IOException {
        SourceTree tree = new SourceTree();
        tree.enter(new Place(folder, "", folder.toRealPath(), true));
        tree.walk();
        return tree.entries;
    }

    private void walk() throws IOException {
        while (!folders.isEmpty() || !links.isEmpty()) {
            if (!folders.isEmpty()) {
                list(folders.pop());
            } else {
                follow(links.poll());
            }
        }
    }

    private void list(Place folder) throws IOException {
        try (DirectoryStream<Path> children = Files.newDirectoryStream(folder.path)) {
            for (Path child : children) {
                Path name = child.getFileName();
                boolean readable = isFaithful(name);
                String shown = readable ? name.toString() : RawName.of(child);
                String relative = folder.relative.isEmpty() ? shown : folder.relative + "/" + shown;
                boolean faithful = folder.faithful && readable;
                Place place = new Place(child, relative, folder.real.resolve(name), faithful);
                if (Layout.isHidden(name.toString())) {
                    add(place, Kind.HIDDEN);
                } else {
                    meet(place);
                }
            }
        } catch (DirectoryIteratorException e) {
            throw e.getCause();
        }
    }

    private void meet(Place place) throws IOException {
        BasicFileAttributes found =
                Files.readAttributes(place.path, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
        if (found.isSymbolicLink()) {
            links.add(place);
        } else {
            take(place, found);
        }
    }

    private void follow(Place link) throws IOException {
        if (!Files.exists(link.path)) {
            add(link, Kind.BROKEN_LINK);
            return;
        }
        Place target = new Place(link.path, link.relative, link.path.toRealPath(), link.faithful);
        take(target, Files.readAttributes(link.path, BasicFileAttributes.class));
    }

    private void take(Place place, BasicFileAttributes found) {
        if (found.isDirectory()) {
            enter(place);
        } else if (!found.isRegularFile()) {
            add(place, Kind.SPECIAL);
        } else {
            add(place, seen.add(place.real) ? Kind.FILE : Kind.LINK_TO_SEEN);
        }
    }

    private void enter(Place folder) {
        if (seen.add(folder.real)) {
            folders.push(folder);
        } else {
            add(folder, Kind.LINK_TO_SEEN);
        }
    }

    private void add(Place place, Kind kind) {
        entries.add(new Entry(place.path, place.relative, place.faithful, kind));
    }

    private static boolean isFaithful(Path name) {
        if (!readsUtf8Names()) {
            return name.toString().chars().allMatch(c -> c < 0x80);
        }
        try {
            return name.getFileSystem().getPath(name.toString()).equals(name);
        } catch (InvalidPathException e) {
            return false;
        }
    }
}
