package dev.caravan.finalize;

import dev.caravan.jsonl.Tally;
import dev.caravan.shard.DoneRecord;
import dev.caravan.shard.PartsIndex;
import dev.caravan.store.Disk;
import dev.caravan.store.Json;
import dev.caravan.store.Layout;
import dev.caravan.store.NewFile;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * A folder of all results and an index. The results are linked into a folder beside it where that can be done, else
 * copied; what lies there is verified, and then the whole folder gets its name at once. Nothing replaces such a folder.
 */
final class MergedParts implements MergedOutput {
    private final MergeRequest request;
    private final Path output;
    private final List<DoneRecord> results;

    MergedParts(MergeRequest request, List<DoneRecord> results) {
        this.request = request;
        this.output = request.output();
        this.results = results;
    }

    @Override
    public boolean isWhole(Tally sums) throws IOException {
        return difference(index(sums)).isEmpty();
    }

    @Override
    public Tally make() throws IOException {
        Layout.Job job = request.job().layout();
        if (Disk.exists(output)) {
            return adopt(new Concatenation(job, results, request.stillOwner()).writeTo(Concatenation.Target.NONE));
        }
        String maker = Merger.maker(request.job());
        Disk.createDirectories(output.getParent());
        NewFile.removeAbandoned(output, maker);
        Path stage = NewFile.folderBeside(output, maker);
        try {
            Concatenation parts = new Concatenation(
                    job, results, request.stillOwner(), result -> Layout.part(stage, result.shardId()));
            for (DoneRecord result : results) {
                parts.requireOwner();
                Disk.linkOrCopy(job.resolve(result.outputPath()), Layout.part(stage, result.shardId()));
            }
            Tally tally = parts.writeTo(Concatenation.Target.NONE);
            Disk.replace(Layout.index(stage), Json.bytes(index(tally)));
            parts.requireOwner();
            return Disk.renameToNew(stage, output) ? tally : adopt(tally);
        } finally {
            Disk.deleteTree(stage); // not there any more once it has its name
        }
    }

    private Tally adopt(Tally tally) throws IOException {
        Optional<String> difference = difference(index(tally));
        if (difference.isPresent()) {
            throw MergedOutput.foreign(output, difference.get(), " or choose another --output");
        }
        return tally;
    }

    private PartsIndex index(Tally sums) {
        List<PartsIndex.Part> parts = results.stream()
                .map(result -> new PartsIndex.Part(
                        Layout.part(output, result.shardId()).getFileName().toString(),
                        result.rows(),
                        result.sizeBytes(),
                        result.sha256()))
                .toList();
        return new PartsIndex(sums.rows(), sums.bytes(), sums.sha256(), parts);
    }

    /** Of what has the output's name from what it should be; empty if there is none. */
    private Optional<String> difference(PartsIndex expected) throws IOException {
        Optional<byte[]> index = Disk.isDirectory(output) ? Disk.readIfPresent(Layout.index(output)) : Optional.empty();
        if (index.isEmpty() || !Arrays.equals(index.get(), Json.bytes(expected))) {
            return Optional.of("a folder of parts whose " + Layout.index(output).getFileName() + " has sha256 "
                    + expected.sha256() + ", found " + (index.isEmpty() ? "none" : "another index"));
        }
        List<String> names =
                new ArrayList<>(List.of(Layout.index(output).getFileName().toString()));
        expected.parts().forEach(part -> names.add(part.name()));
        names.sort(null);
        if (!Disk.list(output).equals(names)) {
            return Optional.of("the parts of its index and nothing else, found other files");
        }
        RawTally raw = new RawTally();
        for (PartsIndex.Part part : expected.parts()) {
            Tally found = raw.of(output.resolve(part.name()));
            if (!found.sha256().equals(part.sha256())) {
                return Optional.of(part.name() + " of sha256 " + part.sha256() + ", found " + found.sha256());
            }
        }
        return Optional.empty();
    }
}
