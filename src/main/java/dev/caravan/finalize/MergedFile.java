package dev.caravan.finalize;

import dev.caravan.jsonl.Tally;
import dev.caravan.shard.DoneRecord;
import dev.caravan.store.Disk;
import dev.caravan.store.NewFile;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/** One file of all results. It gets its name only once it is complete. */
final class MergedFile implements MergedOutput {
    private final MergeRequest request;
    private final Path output;
    private final Concatenation all;

    MergedFile(MergeRequest request, List<DoneRecord> results) {
        this.request = request;
        this.output = request.output();
        this.all = new Concatenation(request.job().layout(), results, request.stillOwner());
    }

    @Override
    public boolean isWhole(Tally sums) throws IOException {
        return Disk.isFile(output)
                && Disk.size(output) == sums.bytes()
                && new RawTally().of(output).sha256().equals(sums.sha256());
    }

    @Override
    public Tally make() throws IOException {
        return Disk.exists(output) && !request.overwrite()
                ? adopt(all.expectedBytes(), () -> all.writeTo(Concatenation.Target.NONE))
                : write();
    }

    private Tally write() throws IOException {
        String maker = Merger.maker(request.job());
        all.requireOwner();
        Disk.createDirectories(output.getParent());
        NewFile.removeAbandoned(output, maker);
        try (NewFile file = NewFile.beside(output, maker)) {
            Tally tally = all.writeTo(file::write);
            all.requireOwner();
            if (request.overwrite()) {
                file.replace();
            } else if (!file.publish()) {
                return adopt(tally.bytes(), () -> tally);
            }
            return tally;
        }
    }

    @FunctionalInterface
    private interface Expected {
        Tally tally() throws IOException;
    }

    /**
     * Takes a file that exists for the result if it is the result: a merge was killed after the publication, or another
     * one was faster.
     *
     * @param expected asked only if the size is right
     */
    private Tally adopt(long expectedBytes, Expected expected) throws IOException {
        long found = Disk.size(output);
        if (found != expectedBytes) {
            throw foreign(expectedBytes + " bytes, found " + found);
        }
        Tally tally = expected.tally();
        String sha256 = new RawTally().of(output).sha256();
        if (!sha256.equals(tally.sha256())) {
            throw foreign("sha256 " + tally.sha256() + ", found " + sha256);
        }
        return tally;
    }

    private MergeException foreign(String difference) {
        return MergedOutput.foreign(output, difference, ", choose another --output, or replace it with --overwrite");
    }
}
