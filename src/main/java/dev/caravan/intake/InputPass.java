package dev.caravan.intake;

import dev.caravan.jsonl.BadJsonlException;
import dev.caravan.jsonl.Line;
import dev.caravan.jsonl.Records;
import dev.caravan.shard.Manifest;
import dev.caravan.store.Disk;
import dev.caravan.store.SourceTree.Stamp;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** One sequential reading of all input: every record checked, normalised and handed on, every file fingerprinted. */
final class InputPass {
    /** Takes normalised records in order. The bytes are good only during the call. */
    interface Sink {
        void record(byte[] buffer, int from, int to) throws IOException;
    }

    private final Normalizer normalizer;
    private final ReadWatch watch;
    private final List<Manifest.InputFile> files = new ArrayList<>();
    private final List<String> withoutRecords = new ArrayList<>();
    private final List<String> withBlankEnd = new ArrayList<>();
    private long row;

    InputPass(Normalizer normalizer, ReadWatch watch) {
        this.normalizer = normalizer;
        this.watch = watch;
    }

    /** @return the file as it was read */
    Manifest.InputFile read(Path file, Sink sink) throws IOException {
        watch.check();
        try {
            Stamp before = Stamp.of(file);
            Manifest.InputFile read = read(file, before, sink);
            files.add(read);
            return read;
        } catch (IOException e) {
            if (!Disk.exists(file)) {
                throw new InputChangedException("Input changed while it was read: " + file + " is gone", e);
            }
            throw e;
        }
    }

    private Manifest.InputFile read(Path file, Stamp before, Sink sink) throws IOException {
        try (HashedInput in = new HashedInput(file, watch)) {
            Records records = new Records(file.toString(), in);
            for (@Nullable Line record = records.next(); record != null; record = records.next()) {
                pass(records, record, sink);
            }
            refuseChange(file, before, records.bytesRead());
            note(file, records);
            return new Manifest.InputFile(
                    file.toString(), before.size(), before.mtimeNs(), in.sha256(), records.rows());
        } catch (BadJsonlException e) {
            refuseChange(file, before, before.size()); // half a record of a file that grows is not a bad line
            throw e;
        }
    }

    private static void refuseChange(Path file, Stamp before, long bytesRead) throws IOException {
        Stamp after = Stamp.of(file);
        if (!after.equals(before) || bytesRead != before.size()) {
            throw new InputChangedException("Input changed while it was read: " + file + " (size " + before.size()
                    + ", then " + after.size() + "; modification time " + before.mtimeNs() + " ns, then "
                    + after.mtimeNs() + " ns; " + bytesRead + " bytes read)");
        }
    }

    private void pass(Records records, Line record, Sink sink) throws IOException {
        Rewrite rewrite = normalizer.rewrite(record, row++);
        if (rewrite instanceof Rewrite.Refused refused) {
            throw records.reject(record, refused.flaw());
        } else if (rewrite instanceof Rewrite.Changed changed) {
            sink.record(changed.record(), 0, changed.record().length);
        } else {
            sink.record(record.buffer(), record.from(), record.to());
        }
    }

    private void note(Path file, Records records) {
        if (records.rows() == 0) {
            withoutRecords.add(file.toString());
        } else if (records.blankLines() > 0) {
            withBlankEnd.add(file + " (" + records.blankLines() + ")");
        }
    }

    List<Manifest.InputFile> files() {
        return files;
    }

    long rows() {
        return row;
    }

    List<String> warnings() {
        List<String> warnings = new ArrayList<>();
        if (!withoutRecords.isEmpty()) {
            warnings.add("input files without records (" + withoutRecords.size() + "): " + NameList.of(withoutRecords));
        }
        if (!withBlankEnd.isEmpty()) {
            warnings.add("blank lines behind the last record, ignored, in " + withBlankEnd.size() + " input file(s): "
                    + NameList.of(withBlankEnd));
        }
        return warnings;
    }
}
