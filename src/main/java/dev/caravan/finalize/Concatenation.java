package dev.caravan.finalize;

import dev.caravan.jsonl.BadJsonlException;
import dev.caravan.jsonl.Block;
import dev.caravan.jsonl.Blocks;
import dev.caravan.jsonl.JsonlCopy;
import dev.caravan.jsonl.LineFeeds;
import dev.caravan.jsonl.OrderedDigest;
import dev.caravan.jsonl.Tally;
import dev.caravan.shard.DoneRecord;
import dev.caravan.store.Disk;
import dev.caravan.store.Layout;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * All results one after the other. One thread reads them; others hash each and all of them, and write, which may be done
 * in any order since the place of each result is known. A result counts once it has the checksum of its record.
 */
final class Concatenation {
    /** Results that may be read before an earlier one is known to be intact. */
    private static final int AHEAD = 16;

    private final Layout.Job job;
    private final List<DoneRecord> results;
    private final BooleanSupplier stillOwner;
    private final Function<DoneRecord, Path> files;

    /** Takes a part of all results at its place; called by several threads. */
    @FunctionalInterface
    interface Target {
        Target NONE = (part, length, position) -> {};

        void write(byte[] part, int length, long position) throws IOException;
    }

    private record Read(DoneRecord result, OrderedDigest digest, LongAdder rows) {}

    Concatenation(Layout.Job job, List<DoneRecord> results, BooleanSupplier stillOwner) {
        this(job, results, stillOwner, result -> job.resolve(result.outputPath()));
    }

    /** @param files where the results are read */
    Concatenation(
            Layout.Job job, List<DoneRecord> results, BooleanSupplier stillOwner, Function<DoneRecord, Path> files) {
        this.job = job;
        this.results = results;
        this.stillOwner = stillOwner;
        this.files = files;
    }

    /** What the records promise; the checksum is known only once the results have been read. */
    long expectedBytes() {
        return results.stream().mapToLong(DoneRecord::sizeBytes).sum();
    }

    /** @throws MergeException at the first result that is not what its record says */
    Tally writeTo(Target target) throws IOException {
        int processors = Runtime.getRuntime().availableProcessors();
        ExecutorService threads = Executors.newFixedThreadPool(processors, work -> {
            Thread thread = new Thread(work, "merge");
            thread.setDaemon(true);
            return thread;
        });
        try {
            return new Pass(threads, new Blocks(4 * processors), target).run();
        } finally {
            threads.shutdownNow();
        }
    }

    void requireOwner() {
        requireOwner(job, stillOwner);
    }

    static void requireOwner(Layout.Job job, BooleanSupplier stillOwner) {
        if (!stillOwner.getAsBoolean()) {
            throw new MergeException("gave up merging " + job.path()
                    + ": this node has lost the role finalize and the node that takes it over completes the merge, or"
                    + " the job was cancelled");
        }
    }

    private final class Pass {
        private final ExecutorService threads;
        private final Blocks blocks;
        private final Target target;
        private final OrderedDigest whole;
        private final List<Read> all = new ArrayList<>();
        private final AtomicReference<@Nullable IOException> trouble = new AtomicReference<>();

        Pass(ExecutorService threads, Blocks blocks, Target target) {
            this.threads = threads;
            this.blocks = blocks;
            this.target = target;
            this.whole = new OrderedDigest(threads);
        }

        Tally run() throws IOException {
            long rows = 0;
            long position = 0;
            for (DoneRecord result : results) {
                requireOwner();
                read(result, position);
                rows += result.rows();
                position += result.sizeBytes();
                if (all.size() > AHEAD) {
                    checkContent(all.get(all.size() - 1 - AHEAD));
                }
            }
            for (Read read : all.subList(Math.max(0, all.size() - AHEAD), all.size())) {
                checkContent(read);
            }
            blocks.awaitAll();
            stopOnTrouble();
            for (Read read : all) {
                if (read.rows().sum() != read.result().rows()) {
                    throw damaged(read.result());
                }
            }
            return new Tally(rows, position, whole.hex());
        }

        private void read(DoneRecord result, long position) throws IOException {
            Read read = new Read(result, new OrderedDigest(threads), new LongAdder());
            all.add(read);
            long size;
            try (InputStream in = Disk.open(files.apply(result))) {
                size = blocks.read(in, block -> {
                    stopOnTrouble();
                    read.digest().add(block, 0, block.length());
                    whole.add(block, 0, block.length());
                    threads.execute(() -> place(read, block, position));
                });
            }
            if (size != result.sizeBytes()) {
                throw damaged(result);
            }
        }

        private void place(Read read, Block block, long position) {
            try {
                read.rows().add(LineFeeds.count(block.buffer(), block.length()));
                // a result that has become longer must not be written over the next one
                long room = read.result().sizeBytes() - block.offset();
                int length = (int) Math.max(0, Math.min(block.length(), room));
                target.write(block.buffer(), length, position + block.offset());
            } catch (IOException e) {
                trouble.compareAndSet(null, e);
            } finally {
                block.release();
            }
        }

        private void checkContent(Read read) throws IOException {
            if (!read.digest().hex().equals(read.result().sha256())) {
                throw damaged(read.result());
            }
        }

        private void stopOnTrouble() throws IOException {
            IOException found = trouble.get();
            if (found != null) {
                throw found;
            }
        }
    }

    /** Reads a result again to say what is wrong with it. */
    private MergeException damaged(DoneRecord result) throws IOException {
        Path file = job.resolve(result.outputPath());
        String message = "the result of " + result.shardId() + " was changed after it was recorded in "
                + job.done(result.shardId()) + "; restore it, or run 'caravan retry --shard-id " + result.shardId()
                + "' to have it made again: " + file + ": ";
        try (InputStream in = Disk.open(file)) {
            Tally found = JsonlCopy.verify(file.toString(), in);
            return new MergeException(message + "expected "
                    + text(new Tally(result.rows(), result.sizeBytes(), result.sha256())) + ", found " + text(found));
        } catch (BadJsonlException e) {
            return new MergeException(message + "expected JSON Lines; " + e.getMessage(), e);
        }
    }

    static String text(Tally tally) {
        return tally.rows() + " rows, " + tally.bytes() + " bytes, sha256 " + tally.sha256();
    }
}
