package dev.caravan.intake;

import dev.caravan.jsonl.BackgroundDigest;
import dev.caravan.jsonl.RecordWriter;
import dev.caravan.jsonl.Tally;
import dev.caravan.shard.Manifest;
import dev.caravan.shard.ShardId;
import dev.caravan.store.DurableOutput;
import dev.caravan.store.Layout;
import java.io.Closeable;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Writes normalised records to the shard files of a stage, one file after the other, each synced when it is full. */
final class ShardWriter implements Closeable {
    private final Layout.Job stage;
    private final int count;
    private final ReadWatch watch;
    private final BackgroundDigest allShards = new BackgroundDigest();
    private final List<Manifest.Shard> shards = new ArrayList<>();
    private @Nullable OutputStream file;
    private @Nullable RecordWriter writer;

    ShardWriter(Layout.Job stage, int count, ReadWatch watch) {
        this.stage = stage;
        this.count = count;
        this.watch = watch;
    }

    /** @param shard the same as before or the next one */
    void write(int shard, byte[] buffer, int from, int to) throws IOException {
        if (writer == null || shard > shards.size()) {
            writer = next();
        }
        writer.write(buffer, from, to);
    }

    /** Ends the last shard. @return all shards in order */
    List<Manifest.Shard> finish() throws IOException {
        end();
        return List.copyOf(shards);
    }

    /** Hex, of all shards in order; call once, at the end. */
    String sha256() {
        return allShards.hex();
    }

    private RecordWriter next() throws IOException {
        end();
        watch.check();
        file = new Digesting(DurableOutput.create(stage.shard(new ShardId(shards.size(), count))), allShards);
        return new RecordWriter(file);
    }

    private void end() throws IOException {
        if (writer == null || file == null) {
            return;
        }
        Tally tally = writer.tally();
        file.close();
        ShardId id = new ShardId(shards.size(), count);
        shards.add(
                new Manifest.Shard(id, stage.relative(stage.shard(id)), tally.rows(), tally.bytes(), tally.sha256()));
        writer = null;
        file = null;
    }

    /** Closes a shard that an error left open. */
    @Override
    public void close() throws IOException {
        allShards.close();
        if (file != null) {
            file.close();
        }
    }

    private static final class Digesting extends FilterOutputStream {
        private final BackgroundDigest digest;

        Digesting(OutputStream out, BackgroundDigest digest) {
            super(out);
            this.digest = digest;
        }

        @Override
        public void write(byte[] b, int from, int length) throws IOException {
            digest.update(b, from, length);
            out.write(b, from, length);
        }
    }
}
