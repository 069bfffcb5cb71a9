package dev.caravan.packing;

import java.io.InputStream;
import java.nio.file.Path;
import java.util.Locale;

/** How the text of a source is packed; its name says it, in upper or lower case. */
public enum Packing {
    NONE(""),
    GZIP(".gz"),
    ZSTD(".zst");

    private final String suffix;

    Packing(String suffix) {
        this.suffix = suffix;
    }

    /** What the names of such files end in; nothing for those that are not packed. */
    public String suffix() {
        return suffix;
    }

    public static Packing of(Path file) {
        String name = file.getFileName().toString().toLowerCase(Locale.ROOT);
        return name.endsWith(GZIP.suffix) ? GZIP : name.endsWith(ZSTD.suffix) ? ZSTD : NONE;
    }

    /**
     * The text of a source as a stream, which throws {@link DamagedException} where it cannot be unpacked. Reads the
     * packed stream to its end; closing closes it. Memory does not grow with the source.
     *
     * @param source what errors call it: a path
     */
    public InputStream open(String source, InputStream packed) {
        return switch (this) {
            case NONE -> packed;
            case GZIP -> new GzipText(source, packed);
            case ZSTD -> new ZstdText(source, packed);
        };
    }
}
