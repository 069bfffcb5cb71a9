package dev.caravan.intake;

import dev.caravan.jsonl.Block;
import dev.caravan.jsonl.OrderedDigest;
import dev.caravan.shard.Manifest;
import dev.caravan.shard.ShardId;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.LongAdder;

/** A shard while its ranges of the input are found. */
final class RangeShard {
    private final OrderedDigest digest;
    private final LongAdder rows = new LongAdder();
    private final List<Manifest.Range> ranges = new ArrayList<>();
    private long bytes;

    RangeShard(Executor threads) {
        digest = new OrderedDigest(threads);
    }

    /** Adds whole lines. @param ended whether the last one ends with a line feed */
    void add(String file, Block block, int from, int to, boolean ended) {
        digest.add(block, from, to);
        bytes += to - from;
        if (!ended) {
            digest.add((byte) '\n');
            bytes++;
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

    Manifest.Shard toShard(ShardId id) {
        return new Manifest.Shard(id, null, ranges, rows.sum(), bytes, digest.hex());
    }
}
