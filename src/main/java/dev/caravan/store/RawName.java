package dev.caravan.store;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CoderResult;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/** A file's name as it is on the disk, whatever this Java takes it for. */
final class RawName {
    private RawName() {}

    /** The name as UTF-8; a byte that is none as {@code \xff}, so that two names stay two. */
    static String of(Path file) {
        ByteBuffer name = ByteBuffer.wrap(bytes(file));
        CharsetDecoder decoder = StandardCharsets.UTF_8.newDecoder();
        CharBuffer text = CharBuffer.allocate(name.capacity());
        StringBuilder shown = new StringBuilder();
        while (true) {
            CoderResult result = decoder.decode(name, text, true);
            shown.append(text.flip());
            text.clear();
            if (!result.isMalformed()) {
                return shown.toString();
            }
            for (int k = 0; k < result.length(); k++) {
                shown.append("\\x%02x".formatted(name.get()));
            }
        }
    }

    /** Only a URI tells them: it escapes the bytes themselves. */
    private static byte[] bytes(Path file) {
        String path = file.toUri().getRawPath();
        int end = path.endsWith("/") ? path.length() - 1 : path.length();
        ByteArrayOutputStream name = new ByteArrayOutputStream();
        for (int i = path.lastIndexOf('/', end - 1) + 1; i < end; i++) {
            if (path.charAt(i) == '%') {
                name.write(Integer.parseInt(path, i + 1, i + 3, 16));
                i += 2;
            } else {
                name.write(path.charAt(i));
            }
        }
        return name.toByteArray();
    }
}
