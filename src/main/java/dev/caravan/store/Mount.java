package dev.caravan.store;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * One line of {@code /proc/mounts}.
 *
 * @param point the directory it is mounted on
 * @param type of the file system
 * @param source device or server
 */
public record Mount(String point, String type, String source, List<String> options) {
    private static final Set<String> LOCAL =
            Set.of("ext2", "ext3", "ext4", "xfs", "btrfs", "zfs", "f2fs", "tmpfs", "ramfs", "overlay", "jfs", "vfat");
    private static final Pattern ESCAPED = Pattern.compile("\\\\([0-7]{3})");

    public Mount {
        options = List.copyOf(options);
    }

    /** The mount that an existing path is on. */
    public static Mount of(Path path) throws IOException {
        return among(Disk.readKernelText("/proc/mounts").orElse(""), path.toRealPath());
    }

    static Mount among(String table, Path real) {
        Mount best = new Mount("/", "unknown", "unknown", List.of());
        for (String line : table.split("\n")) {
            String[] fields = line.split(" ");
            if (fields.length >= 4) {
                Mount mount = new Mount(text(fields[1]), fields[2], text(fields[0]), List.of(fields[3].split(",")));
                boolean deeper = mount.point.length() >= best.point.length(); // of two on one point the later counts
                if (deeper && mount.holds(real.toString())) {
                    best = mount;
                }
            }
        }
        return best;
    }

    private boolean holds(String path) {
        return path.equals(point) || path.startsWith(point.endsWith("/") ? point : point + "/");
    }

    /** Spaces and the like are octal; the bytes are what the names on disk are. */
    private static String text(String field) {
        Matcher octal = ESCAPED.matcher(field);
        String bytes = octal.replaceAll(match -> {
            String one = String.valueOf((char) Integer.parseInt(match.group(1), 8));
            return Matcher.quoteReplacement(one);
        });
        return new String(bytes.getBytes(StandardCharsets.ISO_8859_1), StandardCharsets.UTF_8);
    }

    /** Whether only this machine can see it; what is not known may be shared. */
    public boolean isLocal() {
        return LOCAL.contains(type);
    }

    public boolean isReadOnly() {
        return options.contains("ro");
    }

    @Override
    public String toString() {
        return point + " (" + type + " from " + source + ")";
    }
}
