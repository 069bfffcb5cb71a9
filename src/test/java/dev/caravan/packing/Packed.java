package dev.caravan.packing;

import com.github.luben.zstd.Zstd;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.zip.GZIPOutputStream;

/** Packs texts for tests. */
public final class Packed {
    private Packed() {}

    public static byte[] gzip(String text) throws IOException {
        return gzip(text.getBytes(StandardCharsets.UTF_8));
    }

    public static byte[] gzip(byte[] text) throws IOException {
        ByteArrayOutputStream packed = new ByteArrayOutputStream();
        try (GZIPOutputStream out = new GZIPOutputStream(packed)) {
            out.write(text);
        }
        return packed.toByteArray();
    }

    /** With a checksum, as the command writes it. */
    public static byte[] zstd(String text) {
        return zstd(text.getBytes(StandardCharsets.UTF_8));
    }

    public static byte[] zstd(byte[] text) {
        try (var context = new com.github.luben.zstd.ZstdCompressCtx()) {
            return context.setChecksum(true)
                    .setLevel(Zstd.defaultCompressionLevel())
                    .compress(text);
        }
    }

    public static byte[] join(byte[]... parts) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (byte[] part : parts) {
            all.writeBytes(part);
        }
        return all.toByteArray();
    }
}
