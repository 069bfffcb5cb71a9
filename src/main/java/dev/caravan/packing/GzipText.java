package dev.caravan.packing;

import java.io.IOException;
import java.io.InputStream;
import java.util.zip.CRC32;
import java.util.zip.DataFormatException;
import java.util.zip.Inflater;

/**
 * Gzip by RFC 1952, all members. Java's own reader is not used: it takes whatever it cannot read behind a member for
 * the end, and a pause of the stream too, so that records would be lost without a word.
 */
final class GzipText extends UnpackedText {
    private static final int DEFLATE = 8;
    private static final int HEADER_CHECKSUM = 2;
    private static final int EXTRA = 4;
    private static final int NAME = 8;
    private static final int COMMENT = 16;

    private final Inflater inflater = new Inflater(true);
    private final CRC32 checksum = new CRC32();

    GzipText(String source, InputStream packed) {
        super(source, packed);
    }

    @Override
    void startPart() throws IOException {
        boolean first = isFirst();
        if (next() != 0x1F || next() != 0x8B) {
            from--;
            throw damaged(
                    first
                            ? "expected gzip data, as the name says, found something else; if it is text, remove .gz from"
                                    + " the name:"
                            : "expected another gzip member or the end of the file behind a member, found something else");
        }
        if (next() != DEFLATE) {
            throw damaged("the gzip header names an unknown method");
        }
        int flags = next();
        pass(6);
        if ((flags & EXTRA) != 0) {
            pass(next() | next() << 8);
        }
        if ((flags & NAME) != 0) {
            passText();
        }
        if ((flags & COMMENT) != 0) {
            passText();
        }
        if ((flags & HEADER_CHECKSUM) != 0) {
            pass(2);
        }
        inflater.reset();
        checksum.reset();
    }

    private void pass(int bytes) throws IOException {
        for (int k = 0; k < bytes; k++) {
            next();
        }
    }

    private void passText() throws IOException {
        while (next() != 0) {}
    }

    @Override
    int unpack(byte[] b, int offset, int length) throws IOException {
        while (!inflater.finished()) {
            if (inflater.needsInput()) {
                requireMore();
                inflater.setInput(buffer, from, to - from);
            }
            int unpacked = inflate(b, offset, length);
            if (unpacked > 0) {
                checksum.update(b, offset, unpacked);
                return unpacked;
            }
        }
        checkTrailer();
        return 0;
    }

    private int inflate(byte[] b, int offset, int length) {
        int unpacked = 0;
        String trouble = null;
        try {
            unpacked = inflater.inflate(b, offset, length);
            trouble = inflater.needsDictionary() ? "they ask for a dictionary" : null;
        } catch (DataFormatException e) {
            trouble = e.getMessage();
        }
        from = to - inflater.getRemaining();
        if (trouble != null) {
            throw damaged("the gzip data are corrupt (" + trouble + ")");
        }
        return unpacked;
    }

    private void checkTrailer() throws IOException {
        long size = inflater.getBytesWritten() & 0xFFFF_FFFFL;
        if (word() != checksum.getValue() || word() != size) {
            throw damaged("the gzip checksum does not fit the text before it");
        }
    }

    private long word() throws IOException {
        return next() | next() << 8 | next() << 16 | (long) next() << 24;
    }

    @Override
    public void close() throws IOException {
        inflater.end();
        super.close();
    }
}
