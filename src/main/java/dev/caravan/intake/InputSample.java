package dev.caravan.intake;

import dev.caravan.jsonl.Line;
import dev.caravan.jsonl.RecordReader;
import dev.caravan.jsonl.RecordWriter;
import dev.caravan.packing.Packing;
import dev.caravan.store.Disk;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;

/** Runs of lines at random places of an input, every byte of it as likely as the others. */
public final class InputSample {
    private final List<Path> files;
    private final List<Long> sizes = new ArrayList<>();
    private final long bytes;

    private InputSample(List<Path> files) throws IOException {
        this.files = files;
        for (Path file : files) {
            sizes.add(Disk.size(file));
        }
        this.bytes = sizes.stream().mapToLong(Long::longValue).sum();
    }

    /** @throws IntakeException if there is no input, or if it cannot be entered at any place */
    public static InputSample of(Path dataset) throws IOException {
        List<Path> files = InputFiles.find(dataset).files();
        for (Path file : files) {
            if (Packing.of(file) != Packing.NONE) {
                throw new IntakeException("a plan looks at random places of the input, and " + file
                        + " is compressed: name an unpacked part of the input as dataset_path to plan with");
            }
        }
        InputSample sample = new InputSample(files);
        if (sample.bytes == 0) {
            throw new IntakeException("the input " + dataset + " is empty: there is nothing to plan");
        }
        return sample;
    }

    /** Of the whole input. */
    public long bytes() {
        return bytes;
    }

    /**
     * Writes runs of whole lines, each at least one line and then until it has {@code runBytes} or its file ends.
     *
     * @return how many lines it wrote
     */
    public long write(Path target, int runs, long runBytes, RandomGenerator random) throws IOException {
        return Disk.writeWhole(target, out -> {
            RecordWriter writer = new RecordWriter(out);
            for (int run = 0; run < runs; run++) {
                long place = random.nextLong(bytes);
                int file = 0;
                while (place >= sizes.get(file)) {
                    place -= sizes.get(file++);
                }
                if (copy(files.get(file), place, runBytes, writer) == 0) {
                    copy(files.get(file), 0, runBytes, writer); // the place was in the last line
                }
            }
            return writer.tally().rows();
        });
    }

    /** @return how many bytes there were from the first line that starts at {@code place} or behind it */
    private static long copy(Path file, long place, long most, RecordWriter writer) throws IOException {
        try (InputStream in = Disk.open(file)) {
            RecordReader lines = new RecordReader(file.toString(), in);
            if (place > 0) {
                in.skipNBytes(place - 1);
                lines.next();
            }
            long copied = 0;
            for (Line line = lines.next(); line != null && copied < most; line = lines.next()) {
                if (!line.isBlank()) {
                    writer.write(line);
                    copied += line.length() + 1L;
                }
            }
            return copied;
        }
    }
}
