package dev.caravan.intake;

import dev.caravan.shard.BadRecords;
import dev.caravan.shard.Manifest;
import dev.caravan.shard.OnBadRecord;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The first pass: what the input is, and how it will be cut.
 *
 * @param bytes of all records after normalising, a line feed each
 */
record Scan(List<Manifest.InputFile> files, long rows, long bytes, int shards, List<String> warnings) {

    Scan {
        files = List.copyOf(files);
        warnings = List.copyOf(warnings);
    }

    static Scan of(PrepareRequest request, InputFiles input, ReadWatch watch) throws IOException {
        UniqueIds unique = request.ids();
        if (unique == null) {
            return of(request, input, watch, null);
        }
        try (RecordIds ids = new RecordIds(unique.scratch())) {
            Scan scan = of(request, input, watch, ids);
            unique.requireUnique(ids);
            return scan;
        }
    }

    private static Scan of(PrepareRequest request, InputFiles input, ReadWatch watch, @Nullable RecordIds ids)
            throws IOException {
        BadRecords bad = request.policy().badRecords();
        BadLimit limit = new BadLimit(bad);
        InputPass pass = new InputPass(
                normalizer(request, input, ids), watch, bad.on() == OnBadRecord.QUARANTINE ? limit : null);
        long[] bytes = {0};
        for (Path file : input.files()) {
            pass.read(file, (buffer, from, to) -> bytes[0] += to - from + 1L);
        }
        limit.checkShare(pass.lines());
        if (pass.rows() == 0) {
            throw new IntakeException("no records in " + request.datasetPath() + ": its "
                    + input.files().size() + " input file(s) hold none"
                    + (pass.lines() == 0 ? "" : ", but " + pass.lines() + " line(s) that are not records")
                    + "; check that they were written completely");
        }
        int shards = request.shardsOf(pass.rows(), bytes[0]);
        if (shards > pass.rows()) {
            throw new IntakeException("num_shards is " + shards + " but the input holds only " + pass.rows()
                    + " record(s) and no shard may be empty: choose num_shards from 1 to " + pass.rows()
                    + ", or auto");
        }
        return new Scan(pass.files(), pass.rows(), bytes[0], shards, pass.warnings());
    }

    /** @param ids where ids are kept to find those that repeat; null if that was done before, or there are none */
    static Normalizer normalizer(PrepareRequest request, InputFiles input, @Nullable RecordIds ids) {
        UniqueIds unique = request.ids();
        return new Normalizer(
                request.mediaKeys().values(),
                request.indexKeys(),
                input.root(),
                unique == null ? null : new IdColumn(unique.column(), ids));
    }
}
