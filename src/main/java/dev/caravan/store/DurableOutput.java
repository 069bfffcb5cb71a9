package dev.caravan.store;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * A new file whose content is on the disk when {@link #close} returns. Not buffered. The name is durable only after
 * {@link Disk#syncDirectory} of its directory, so that many files need one sync.
 */
public final class DurableOutput extends OutputStream {
    private final FileChannel channel;

    private DurableOutput(FileChannel channel) {
        this.channel = channel;
    }

    /** @throws java.nio.file.FileAlreadyExistsException if the name is taken */
    public static DurableOutput create(Path file) throws IOException {
        return new DurableOutput(FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE));
    }

    @Override
    public void write(int b) throws IOException {
        write(new byte[] {(byte) b}, 0, 1);
    }

    @Override
    public void write(byte[] b, int from, int length) throws IOException {
        ByteBuffer bytes = ByteBuffer.wrap(b, from, length);
        while (bytes.hasRemaining()) {
            channel.write(bytes);
        }
    }

    @Override
    public void close() throws IOException {
        if (!channel.isOpen()) {
            return;
        }
        try (channel) {
            channel.force(true);
        }
    }
}
