package dev.caravan.store;

import dev.caravan.shard.Manifest;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Iterator;
import org.jspecify.annotations.Nullable;

/** Reads a shard that is ranges of the input: their bytes in order, with the line feed that the end of a file may lack. */
public final class ShardBytes extends InputStream {
    private final Iterator<Manifest.Range> ranges;
    private @Nullable FileChannel channel;
    private long position;
    private long end;
    private byte last = '\n';

    private ShardBytes(Iterator<Manifest.Range> ranges) {
        this.ranges = ranges;
    }

    /** The bytes of a shard, whether or not it has a file of its own. */
    public static InputStream open(Layout.Job job, Manifest.Shard shard) throws IOException {
        String file = shard.path();
        return file == null ? new ShardBytes(shard.ranges().iterator()) : Disk.open(job.resolve(file));
    }

    @Override
    public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xFF;
    }

    @Override
    public int read(byte[] b, int from, int length) throws IOException {
        if (length == 0) {
            return 0;
        }
        while (true) {
            int read = channel == null ? -1 : readRange(channel, b, from, length);
            if (read > 0) {
                last = b[from + read - 1];
                return read;
            }
            if (last != '\n') {
                b[from] = last = '\n';
                return 1;
            }
            if (!ranges.hasNext()) {
                return -1;
            }
            open(ranges.next());
        }
    }

    private int readRange(FileChannel file, byte[] b, int from, int length) throws IOException {
        int wanted = (int) Math.min(length, end - position);
        int read = wanted == 0 ? -1 : file.read(ByteBuffer.wrap(b, from, wanted), position);
        position += Math.max(0, read);
        return read;
    }

    private void open(Manifest.Range range) throws IOException {
        close();
        channel = FileChannel.open(Path.of(range.file()), StandardOpenOption.READ);
        position = range.offset();
        end = range.offset() + range.length();
    }

    @Override
    public void close() throws IOException {
        if (channel != null) {
            channel.close();
        }
    }
}
