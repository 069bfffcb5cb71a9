package dev.caravan.intake;

import dev.caravan.jsonl.Block;
import dev.caravan.jsonl.OrderedDigest;
import dev.caravan.shard.Manifest;
import dev.caravan.shard.ShardId;
import dev.caravan.store.DurableOutput;
import dev.caravan.store.Layout;
import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/** A shard while its ranges of the input are found, and copied if it is to be a file. */
final class FoundShard implements Closeable {
    private final OrderedDigest digest;
    private final LongAdder rows = new LongAdder();
    private final List<Manifest.Range> ranges = new ArrayList<>();
    private final @Nullable DurableOutput copy;
    private long bytes;

    /** @param copy where it goes; null for a shard that stays in the input */
    FoundShard(Executor threads, @Nullable DurableOutput copy) {
        this.digest = new OrderedDigest(threads);
        this.copy = copy;
    }

    /** Adds whole lines. */
    void add(String file, Block block, int from, int to) throws IOException {
        boolean ended = block.buffer()[to - 1] == '\n';
        digest.addLines(block, from, to);
        bytes += to - from + (ended ? 0 : 1);
        if (copy != null) {
            copy.write(block.buffer(), from, to - from);
            if (!ended) {
                copy.write('\n');
            }
        }
        long offset = block.offset() + from;
        int last = ranges.size() - 1;
        if (last >= 0 && ranges.get(last).file().equals(file)) { // within one file nothing is left out
            Manifest.Range before = ranges.get(last);
            ranges.set(last, new Manifest.Range(file, before.offset(), before.length() + to - from));
        } else {
            ranges.add(new Manifest.Range(file, offset, to - from));
        }
    }

    void addRows(long found) {
        rows.add(found);
    }

    /** Its lines have all been added: a copy is on the disk on return. */
    @Override
    public void close() throws IOException {
        if (copy != null) {
            copy.close();
        }
    }

    Manifest.Shard toShard(ShardId id, Layout.Job stage) {
        return copy == null
                ? new Manifest.Shard(id, null, ranges, rows.sum(), bytes, digest.hex())
                : new Manifest.Shard(id, stage.relative(stage.shard(id)), rows.sum(), bytes, digest.hex());
    }
}
