package dev.caravan.intake;

import dev.caravan.jsonl.BadJsonlException;
import dev.caravan.jsonl.Flaw;
import dev.caravan.jsonl.Line;
import dev.caravan.jsonl.Records;
import dev.caravan.packing.DamagedException;
import dev.caravan.packing.Packing;
import dev.caravan.shard.Manifest;
import dev.caravan.store.Disk;
import dev.caravan.store.SourceTree.Stamp;
import java.io.IOException;
import java.io.InputStream;
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

    /** Takes lines that are not records; {@code record} is the number of the record that the line would be. */
    interface BadLines {
        void take(Path file, long record, Line line, Flaw flaw) throws IOException;
    }

    private final Normalizer normalizer;
    private final ReadWatch watch;
    private final @Nullable BadLines badLines;
    private final List<Manifest.InputFile> files = new ArrayList<>();
    private final List<String> withoutRecords = new ArrayList<>();
    private final List<String> withBlankLines = new ArrayList<>();
    private final List<String> empty = new ArrayList<>();
    private final List<RepeatedKeyCount> repeatedKeys = new ArrayList<>();
    private long record;
    private long rows;

    /** @param badLines null makes the first bad line an error */
    InputPass(Normalizer normalizer, ReadWatch watch, @Nullable BadLines badLines) {
        this.normalizer = normalizer;
        this.watch = watch;
        this.badLines = badLines;
    }

    /** @return the file as it was read */
    Manifest.InputFile read(Path file, Sink sink) throws IOException {
        watch.check();
        try {
            Stamp before = Stamp.of(file);
            normalizer.begin(file);
            Manifest.InputFile read = read(file, before, sink);
            files.add(read);
            return read;
        } catch (IOException e) {
            throw goneOr(file, e);
        }
    }

    /** @return the failure, if the file is still there */
    static IOException goneOr(Path file, IOException failure) {
        if (!Disk.exists(file)) {
            throw new InputChangedException("Input changed while it was read: " + file + " is gone", failure);
        }
        return failure;
    }

    private Manifest.InputFile read(Path file, Stamp before, Sink sink) throws IOException {
        Packing packing = Packing.of(file);
        try (HashedInput in = new HashedInput(file, watch);
                InputStream text = packing.open(file.toString(), in)) {
            String source = packing == Packing.NONE ? file.toString() : file + " (unpacked)";
            RepeatedKeyCount repeated = new RepeatedKeyCount(source);
            repeatedKeys.add(repeated);
            Records records = records(source, file, text);
            for (@Nullable Line line = records.next(); line != null; line = records.next()) {
                pass(records, line, repeated, sink);
            }
            refuseChange(file, before, in.bytesRead());
            note(file, before, records);
            return new Manifest.InputFile(
                    file.toString(), before.size(), before.mtimeNs(), in.sha256(), records.rows());
        } catch (BadJsonlException | DamagedException | IntakeException e) {
            refuseChange(file, before, before.size()); // half a record of a file that grows is not a bad line
            throw e;
        }
    }

    private Records records(String source, Path file, InputStream text) {
        return new Records(
                source, text, badLines == null ? null : (line, flaw) -> badLines.take(file, record++, line, flaw));
    }

    static void refuseChange(Path file, Stamp before, long bytesRead) throws IOException {
        Stamp after = Stamp.of(file);
        if (!after.equals(before) || bytesRead != before.size()) {
            throw new InputChangedException("Input changed while it was read: " + file + " (size " + before.size()
                    + ", then " + after.size() + "; modification time " + before.mtimeNs() + " ns, then "
                    + after.mtimeNs() + " ns; " + bytesRead + " bytes read)");
        }
    }

    private void pass(Records records, Line line, RepeatedKeyCount repeated, Sink sink) throws IOException {
        watch.advanceText(line.length());
        Rewrite rewrite = normalizer.rewrite(line, record);
        if (rewrite instanceof Rewrite.Refused refused) {
            records.reject(line, refused.flaw());
            return;
        }
        if (records.repeatsKey()) {
            repeated.add(line.offset());
        }
        record++;
        rows++;
        if (rewrite instanceof Rewrite.Changed changed) {
            sink.record(changed.record(), 0, changed.record().length);
        } else {
            sink.record(line.buffer(), line.from(), line.to());
        }
    }

    private void note(Path file, Stamp stamp, Records records) {
        if (stamp.size() == 0 && Packing.of(file) != Packing.NONE) {
            empty.add(file.toString());
        } else if (records.rows() == 0) {
            withoutRecords.add(file.toString());
        }
        if (records.blankLines() > 0) {
            withBlankLines.add(file + " (" + records.blankLines() + ")");
        }
    }

    List<Manifest.InputFile> files() {
        return files;
    }

    long rows() {
        return rows;
    }

    /** Records and bad lines together. */
    long lines() {
        return record;
    }

    static List<String> withoutRecords(List<String> files) {
        return files.isEmpty()
                ? List.of()
                : List.of("input files without records (" + files.size() + "): " + NameList.of(files));
    }

    List<String> warnings() {
        List<String> warnings = new ArrayList<>(withoutRecords(withoutRecords));
        if (!empty.isEmpty()) {
            warnings.add("compressed input files of 0 bytes (" + empty.size()
                    + "), which no program that compresses writes: " + NameList.of(empty)
                    + "; were they copied completely?");
        }
        if (!withBlankLines.isEmpty()) {
            warnings.add("blank lines, ignored, in " + withBlankLines.size() + " input file(s): "
                    + NameList.of(withBlankLines));
        }
        warnings.addAll(RepeatedKeyCount.warnings(repeatedKeys));
        return warnings;
    }
}
