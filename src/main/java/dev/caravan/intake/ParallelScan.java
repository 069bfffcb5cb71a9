package dev.caravan.intake;

import dev.caravan.jsonl.Block;
import dev.caravan.jsonl.Blocks;
import dev.caravan.jsonl.OrderedDigest;
import dev.caravan.packing.Packing;
import dev.caravan.shard.Manifest;
import dev.caravan.shard.ShardForm;
import dev.caravan.shard.ShardId;
import dev.caravan.store.Disk;
import dev.caravan.store.DurableOutput;
import dev.caravan.store.Layout;
import dev.caravan.store.SourceTree.Stamp;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * Checks and fingerprints input whose records all stay as they are, and finds where its shards lie or copies them to
 * files, in one reading. One thread reads blocks of whole lines and knows by their length where shards end; the others
 * check the lines and hash the blocks, for the file and for the shard. The shards are those that {@link StageWriter}
 * would write.
 */
final class ParallelScan {
    private static final byte[] BYTE_ORDER_MARK = {(byte) 0xEF, (byte) 0xBB, (byte) 0xBF};

    /**
     * @param sha256 of all shards in order, hex; null if they stay in the input
     * @param complete false if there were fewer records than the last shards needed: cut again, knowing the rows
     */
    record Found(
            Scan scan,
            List<Manifest.Shard> shards,
            @Nullable String sha256,
            boolean complete) {}

    private final InputFiles input;
    private final Layout.Job stage;
    private final boolean copies;
    private final Normalizer normalizer;
    private final ReadWatch watch;
    private final ShardCuts cuts;
    private final int count;
    private final int processors = Runtime.getRuntime().availableProcessors();
    private final ExecutorService threads = Executors.newFixedThreadPool(processors, ParallelScan::thread);
    private final Blocks blocks = new Blocks(4 * processors + 4);
    private final AtomicReference<@Nullable RuntimeException> trouble = new AtomicReference<>();
    private final List<FoundShard> shards = new ArrayList<>();
    private final List<LongAdder> rows = new ArrayList<>();
    private final List<RepeatedKeyCount> repeatedKeys = new ArrayList<>();
    private final List<Manifest.InputFile> unhashed = new ArrayList<>();
    private final List<OrderedDigest> digests = new ArrayList<>();
    private final @Nullable OrderedDigest allShards;

    /** @param totalRows of the input, or {@link ShardCuts#UNKNOWN} */
    private ParallelScan(Work work, Normalizer normalizer, long totalRows, Sizes sizes) {
        this.input = work.input();
        this.stage = work.stage();
        this.copies = work.request().shardForm() == ShardForm.FILES;
        this.normalizer = normalizer;
        this.watch = work.watch();
        this.count = sizes.shards();
        this.cuts = new ShardCuts(totalRows, sizes.records(), count);
        this.allShards = copies && !sizes.areThoseOfOneFile() ? new OrderedDigest(threads) : null;
    }

    /** @param stage where the shards go if they are to be files */
    private record Work(PrepareRequest request, InputFiles input, Layout.Job stage, ReadWatch watch) {}

    /**
     * @param records bytes of all records if each line is one
     * @param areThoseOfOneFile whether they are all that a single file holds, so that one hash does for both
     */
    private record Sizes(long records, boolean areThoseOfOneFile, int shards) {
        Sizes with(int otherShards) {
            return new Sizes(records, areThoseOfOneFile, otherShards);
        }
    }

    /**
     * @param stage where the shards go if they are to be files
     * @throws MustCopy if the input must be read record by record, be it to say what is wrong with it
     */
    static Found of(PrepareRequest request, InputFiles input, Layout.Job stage, ReadWatch watch) throws IOException {
        Work work = new Work(request, input, stage, watch);
        long records = 0;
        for (Path file : input.files()) {
            records += recordBytes(file);
        }
        if (records == 0) {
            throw new MustCopy("the input is empty");
        }
        boolean ofOneFile =
                input.files().size() == 1 && Stamp.of(input.files().get(0)).size() == records;
        Sizes sizes = new Sizes(records, ofOneFile, request.shardsOf(ShardCuts.UNKNOWN, records));
        Found found = run(work, ShardCuts.UNKNOWN, sizes);
        if (found.complete()) {
            return found;
        }
        long rows = found.scan().rows();
        int possible = request.shardsOf(rows, records);
        if (possible > rows) {
            throw new MustCopy("there are fewer records than shards");
        }
        found.scan().files().forEach(file -> watch.expect(file.size()));
        return run(work, rows, sizes.with(possible));
    }

    private static Found run(Work work, long totalRows, Sizes sizes) throws IOException {
        UniqueIds unique = work.request().ids();
        if (unique == null) {
            return new ParallelScan(work, Scan.normalizer(work.request(), work.input(), null), totalRows, sizes).run();
        }
        try (RecordIds ids = new RecordIds(unique.scratch())) {
            Normalizer normalizer = Scan.normalizer(work.request(), work.input(), ids);
            Found found = new ParallelScan(work, normalizer, totalRows, sizes).run();
            if (ids.repeated().isPresent()) {
                throw new MustCopy("ids repeat in it");
            }
            return found;
        }
    }

    private static long recordBytes(Path file) throws IOException {
        if (Packing.of(file) != Packing.NONE) {
            throw new MustCopy(file + " is compressed");
        }
        long size = Stamp.of(file).size();
        byte[] start = Disk.readPart(file, 0, BYTE_ORDER_MARK.length);
        long text = size - (startsWithMark(start, start.length) ? BYTE_ORDER_MARK.length : 0);
        return text == 0 || Disk.readPart(file, size - 1, 1)[0] == '\n' ? text : text + 1;
    }

    private static boolean startsWithMark(byte[] b, int length) {
        return length >= BYTE_ORDER_MARK.length
                && b[0] == BYTE_ORDER_MARK[0]
                && b[1] == BYTE_ORDER_MARK[1]
                && b[2] == BYTE_ORDER_MARK[2];
    }

    private static Thread thread(Runnable work) {
        Thread thread = new Thread(work, "prepare");
        thread.setDaemon(true);
        return thread;
    }

    private Found run() throws IOException {
        try {
            if (copies) {
                Disk.deleteTree(stage.shards()); // of a scan that was given up
                Disk.createDirectories(stage.shards());
            }
            for (Path file : input.files()) {
                read(file);
            }
            return found();
        } finally {
            threads.shutdownNow();
            endShard();
        }
    }

    private void read(Path file) throws IOException {
        watch.check();
        Stamp before = Stamp.of(file);
        LongAdder fileRows = new LongAdder();
        OrderedDigest digest = new OrderedDigest(threads);
        repeatedKeys.add(new RepeatedKeyCount(file.toString()));
        try (InputStream in = Disk.open(file)) {
            long size = blocks.readLines(in, block -> {
                digest.add(block, 0, block.length());
                cut(file, block, fileRows);
                watch.advance(block.length());
                block.release();
                stopOnTrouble();
            });
            InputPass.refuseChange(file, before, size);
        } catch (MustCopy e) {
            InputPass.refuseChange(file, before, before.size()); // half a record of a file that grows is no reason
            throw e;
        } catch (IOException e) {
            throw InputPass.goneOr(file, e);
        }
        unhashed.add(new Manifest.InputFile(file.toString(), before.size(), before.mtimeNs(), "", 0));
        rows.add(fileRows);
        digests.add(digest);
    }

    private void cut(Path file, Block block, LongAdder fileRows) throws IOException {
        byte[] b = block.buffer();
        int start = block.offset() == 0 && startsWithMark(b, block.length()) ? BYTE_ORDER_MARK.length : 0;
        boolean ended = block.length() == start || b[block.length() - 1] == '\n';
        if (cuts.takeRun(block.length() - start + (ended ? 0 : 1))) {
            give(file, block, start, block.length(), fileRows);
            return;
        }
        int segment = start;
        int line = start;
        for (int i = start; i < block.length(); i++) {
            if (b[i] == '\n' || i == block.length() - 1) {
                int shard = cuts.shard();
                if (cuts.shardOfNext(i + (b[i] == '\n' ? 1L : 2L) - line) != shard) {
                    give(file, block, segment, line, fileRows, shard);
                    segment = line;
                }
                line = i + 1;
            }
        }
        give(file, block, segment, block.length(), fileRows);
    }

    private void give(Path file, Block block, int from, int to, LongAdder fileRows) throws IOException {
        give(file, block, from, to, fileRows, cuts.shard());
    }

    private void give(Path file, Block block, int from, int to, LongAdder fileRows, int index) throws IOException {
        if (from == to) {
            return;
        }
        while (shards.size() <= index) {
            endShard();
            ShardId id = new ShardId(shards.size(), count);
            shards.add(new FoundShard(threads, copies ? DurableOutput.create(stage.shard(id)) : null));
        }
        FoundShard shard = shards.get(index);
        shard.add(file.toString(), block, from, to);
        if (allShards != null) {
            allShards.addLines(block, from, to);
        }
        RepeatedKeyCount repeated = repeatedKeys.get(repeatedKeys.size() - 1);
        block.share();
        threads.execute(() -> {
            try {
                long found = new LineCheck(file, normalizer, repeated).rows(block, from, to);
                shard.addRows(found);
                fileRows.add(found);
            } catch (RuntimeException e) {
                trouble.compareAndSet(null, e);
            } finally {
                block.release();
            }
        });
    }

    private void endShard() throws IOException {
        if (!shards.isEmpty()) {
            shards.get(shards.size() - 1).close();
        }
    }

    private void stopOnTrouble() {
        RuntimeException found = trouble.get();
        if (found != null) {
            throw found;
        }
    }

    private Found found() throws IOException {
        blocks.awaitAll();
        stopOnTrouble();
        List<Manifest.InputFile> files = new ArrayList<>();
        List<String> withoutRecords = new ArrayList<>();
        for (int k = 0; k < unhashed.size(); k++) {
            Manifest.InputFile file = unhashed.get(k);
            long fileRows = rows.get(k).sum();
            files.add(new Manifest.InputFile(
                    file.path(), file.size(), file.mtimeNs(), digests.get(k).hex(), fileRows));
            if (fileRows == 0) {
                withoutRecords.add(file.path());
            }
        }
        List<Manifest.Shard> made = new ArrayList<>();
        for (FoundShard shard : shards) {
            made.add(shard.toShard(new ShardId(made.size(), count), stage));
        }
        long totalRows = files.stream().mapToLong(Manifest.InputFile::rows).sum();
        long totalBytes = made.stream().mapToLong(Manifest.Shard::bytes).sum();
        List<String> warnings = new ArrayList<>(InputPass.withoutRecords(withoutRecords));
        warnings.addAll(RepeatedKeyCount.warnings(repeatedKeys));
        Scan scan = new Scan(files, totalRows, totalBytes, count, warnings);
        return new Found(scan, made, copies ? sha256(files) : null, made.size() == count);
    }

    private String sha256(List<Manifest.InputFile> files) throws IOException {
        endShard();
        Disk.syncDirectory(stage.shards());
        return allShards == null ? files.get(0).sha256() : allShards.hex();
    }
}
