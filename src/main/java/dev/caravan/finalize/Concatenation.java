package dev.caravan.finalize;

import dev.caravan.jsonl.BadJsonlException;
import dev.caravan.jsonl.JsonlCopy;
import dev.caravan.jsonl.Sha256;
import dev.caravan.jsonl.Tally;
import dev.caravan.shard.DoneRecord;
import dev.caravan.store.Disk;
import dev.caravan.store.Layout;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Path;
import java.security.DigestOutputStream;
import java.util.HexFormat;
import java.util.List;
import java.util.function.BooleanSupplier;

/** All results one after the other, each checked against its record while it is read. */
final class Concatenation {
    private final Layout.Job job;
    private final List<DoneRecord> results;
    private final BooleanSupplier stillOwner;

    Concatenation(Layout.Job job, List<DoneRecord> results, BooleanSupplier stillOwner) {
        this.job = job;
        this.results = results;
        this.stillOwner = stillOwner;
    }

    /** What the records promise; the checksum is known only once the results have been read. */
    long expectedBytes() {
        return results.stream().mapToLong(DoneRecord::sizeBytes).sum();
    }

    /** @throws MergeException at the first result that is not what its record says */
    Tally writeTo(OutputStream out) throws IOException {
        DigestOutputStream whole = new DigestOutputStream(out, Sha256.digest());
        long rows = 0;
        long bytes = 0;
        for (DoneRecord result : results) {
            requireOwner();
            Tally copied = copy(result, whole);
            rows += copied.rows();
            bytes += copied.bytes();
        }
        return new Tally(
                rows, bytes, HexFormat.of().formatHex(whole.getMessageDigest().digest()));
    }

    void requireOwner() {
        if (!stillOwner.getAsBoolean()) {
            throw new MergeException("gave up merging " + job.path()
                    + ": this node has lost the role finalize and the node that takes it over completes the merge, or"
                    + " the job was cancelled");
        }
    }

    private Tally copy(DoneRecord result, OutputStream out) throws IOException {
        Path file = job.resolve(result.outputPath());
        Tally expected = new Tally(result.rows(), result.sizeBytes(), result.sha256());
        Tally found;
        try (InputStream in = Disk.open(file)) {
            found = JsonlCopy.copy(file.toString(), in, out);
        } catch (BadJsonlException e) {
            throw new MergeException(damaged(result, file) + "expected JSON Lines; " + e.getMessage(), e);
        }
        if (!found.equals(expected)) {
            throw new MergeException(damaged(result, file) + "expected " + text(expected) + ", found " + text(found));
        }
        return found;
    }

    private String damaged(DoneRecord result, Path file) {
        return "the result of " + result.shardId() + " was changed after it was recorded in "
                + job.done(result.shardId()) + "; restore it, or run 'caravan retry --shard-id " + result.shardId()
                + "' to have it made again: " + file + ": ";
    }

    static String text(Tally tally) {
        return tally.rows() + " rows, " + tally.bytes() + " bytes, sha256 " + tally.sha256();
    }
}
