package dev.caravan.packing;

import com.github.luben.zstd.ZstdDecompressCtx;
import com.github.luben.zstd.ZstdException;
import dev.caravan.CaravanException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;

/** Zstandard by RFC 8878, all frames, skippable ones too, with windows of up to 128 MiB. */
final class ZstdText extends UnpackedText {
    private final ZstdDecompressCtx context;
    private boolean ended;

    ZstdText(String source, InputStream packed) {
        super(source, packed);
        try {
            this.context = new ZstdDecompressCtx();
        } catch (LinkageError e) {
            throw new CaravanException(
                    "cannot unpack " + source + ": the zstd library cannot be loaded on this node (" + e.getMessage()
                            + "); it needs a temporary directory that programs may be loaded from: name one with the"
                            + " Java option -DZstdTempFolder=DIR",
                    e);
        }
    }

    @Override
    void startPart() {
        ended = false;
    }

    @Override
    int unpack(byte[] b, int offset, int length) throws IOException {
        while (!ended) {
            boolean first = isFirst();
            boolean more = hasMore(); // without it there may still be text that the library holds back
            ByteBuffer target = ByteBuffer.wrap(b, offset, length);
            ByteBuffer source = ByteBuffer.wrap(buffer, from, to - from);
            try {
                ended = context.decompressByteBufferStream(target, source);
            } catch (ZstdException e) {
                throw damaged((first && from == 0
                                ? "expected zstd data, as the name says, found something else or corrupt data"
                                : "the zstd data are corrupt")
                        + " (" + e.getMessage() + ")");
            }
            from = source.position();
            int unpacked = target.position() - offset;
            if (unpacked > 0) {
                return unpacked;
            }
            if (!more && !ended) {
                throw endsEarly();
            }
        }
        return 0;
    }

    @Override
    public void close() throws IOException {
        context.close();
        super.close();
    }
}
