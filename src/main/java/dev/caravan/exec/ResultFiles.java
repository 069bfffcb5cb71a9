package dev.caravan.exec;

import dev.caravan.jsonl.BadJsonlException;
import dev.caravan.jsonl.JsonlCopy;
import dev.caravan.jsonl.RecordWriter;
import dev.caravan.jsonl.Tally;
import dev.caravan.shard.FailureClass;
import dev.caravan.store.Disk;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Puts what an engine left together: one file of checked records in row order, on the disk before anyone hears of it. */
final class ResultFiles {
    private ResultFiles() {}

    /** @param sources names of the engine's files, in order */
    record Result(Tally tally, List<String> sources) {}

    /**
     * @param result the engine's file, or its folder of files whose names sort in row order
     * @throws AttemptFailed of class data if there is no result or it is not JSON Lines
     */
    static Result assemble(Path result, Path processed) throws IOException {
        List<Path> sources = sources(result);
        try {
            Tally tally = Disk.writeWhole(processed, out -> copy(sources, out));
            return new Result(
                    tally,
                    sources.stream().map(file -> file.getFileName().toString()).toList());
        } catch (BadJsonlException e) {
            throw new AttemptFailed(FailureClass.DATA, "the result is not JSON Lines: " + e.getMessage());
        }
    }

    private static Tally copy(List<Path> sources, OutputStream out) throws IOException {
        RecordWriter writer = new RecordWriter(out);
        for (Path source : sources) {
            try (InputStream in = Disk.open(source)) {
                JsonlCopy.append(source.toString(), in, writer);
            }
        }
        return writer.tally();
    }

    private static List<Path> sources(Path result) throws IOException {
        if (Disk.isFile(result)) {
            return List.of(result);
        }
        if (!Disk.isDirectory(result)) {
            throw new AttemptFailed(FailureClass.DATA, "the engine ended with 0 but did not create " + result);
        }
        List<Path> files = new ArrayList<>();
        for (String name : Disk.list(result)) {
            if (name.endsWith(".json") || name.endsWith(".jsonl")) {
                files.add(result.resolve(name));
            }
        }
        return files;
    }
}
