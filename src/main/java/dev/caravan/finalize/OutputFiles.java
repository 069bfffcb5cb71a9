package dev.caravan.finalize;

import dev.caravan.jsonl.Sha256;
import dev.caravan.shard.MergeRecord;
import dev.caravan.store.Disk;
import dev.caravan.store.Layout;
import java.io.IOException;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;
import java.util.OptionalLong;

/** The output of a merge in either form: files whose bytes one after the other are all results. */
public final class OutputFiles {
    private OutputFiles() {}

    private static List<Path> of(MergeRecord merged) {
        Path output = Path.of(merged.output());
        return Disk.isDirectory(output)
                ? merged.shards().stream()
                        .map(part -> Layout.part(output, part.id()))
                        .toList()
                : List.of(output);
    }

    /** Empty if a file is not there. */
    public static OptionalLong size(MergeRecord merged) throws IOException {
        long size = 0;
        for (Path file : of(merged)) {
            if (!Disk.isFile(file)) {
                return OptionalLong.empty();
            }
            size += Disk.size(file);
        }
        return OptionalLong.of(size);
    }

    /** Reads them all. */
    public static String sha256(MergeRecord merged) throws IOException {
        RawTally raw = new RawTally();
        MessageDigest all = Sha256.digest();
        for (Path file : of(merged)) {
            raw.of(file, all);
        }
        return HexFormat.of().formatHex(all.digest());
    }
}
