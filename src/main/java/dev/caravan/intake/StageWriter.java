package dev.caravan.intake;

import dev.caravan.jsonl.BadJsonlException;
import dev.caravan.packing.DamagedException;
import dev.caravan.shard.Manifest;
import dev.caravan.shard.OnBadRecord;
import dev.caravan.store.Disk;
import dev.caravan.store.Layout;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The second pass: writes the shards, and makes sure that it read what the first pass read. */
final class StageWriter {
    /** @param sha256 of all shards in order, hex; null if they stay where they are */
    record Written(List<Manifest.Shard> shards, @Nullable String sha256, Manifest.@Nullable Quarantine quarantine) {}

    private static final String CHANGED = "Input changed between the scan and write passes: ";

    private final PrepareRequest request;
    private final Scan scan;
    private final Layout.Job stage;
    private final ReadWatch watch;

    StageWriter(PrepareRequest request, Scan scan, Layout.Job stage, ReadWatch watch) {
        this.request = request;
        this.scan = scan;
        this.stage = stage;
        this.watch = watch;
    }

    Written write(InputFiles input) throws IOException {
        boolean quarantines = request.policy().badRecords().on() == OnBadRecord.QUARANTINE;
        ShardCuts cuts = new ShardCuts(scan.rows(), scan.bytes(), scan.shards());
        try (ShardWriter writer = new ShardWriter(stage, scan.shards(), watch);
                QuarantineWriter quarantine = new QuarantineWriter(stage)) {
            InputPass pass =
                    new InputPass(Scan.normalizer(request, input, null), watch, quarantines ? quarantine : null);
            for (int k = 0; k < input.files().size(); k++) {
                Manifest.InputFile read = pass.read(
                        input.files().get(k),
                        (buffer, from, to) -> writer.write(cuts.shardOfNext(to - from + 1L), buffer, from, to));
                compare(scan.files().get(k), read);
            }
            compareNames(input);
            List<Manifest.Shard> shards = writer.finish();
            Disk.syncDirectory(stage.shards());
            return new Written(shards, writer.sha256(), quarantine.finish());
        } catch (BadJsonlException e) {
            throw new InputChangedException(CHANGED + e.source() + " had no bad line in the scan pass", e);
        } catch (DamagedException e) {
            throw new InputChangedException(CHANGED + e.source() + " could be unpacked in the scan pass", e);
        }
    }

    /** Takes the shards as the first pass has left them. */
    Written keep(InputFiles input, ParallelScan.Found found) throws IOException {
        compareNames(input);
        return new Written(found.shards(), found.sha256(), null);
    }

    private static void compare(Manifest.InputFile before, Manifest.InputFile after) {
        if (!after.equals(before)) {
            throw new InputChangedException(CHANGED + before.path() + " (size " + before.size() + ", then "
                    + after.size() + "; modification time " + before.mtimeNs() + " ns, then " + after.mtimeNs()
                    + " ns; sha256 " + before.sha256() + ", then " + after.sha256() + ")");
        }
    }

    private void compareNames(InputFiles input) throws IOException {
        Set<Path> added =
                new LinkedHashSet<>(InputFiles.find(request.datasetPath()).files());
        List<Path> gone = new ArrayList<>();
        for (Path file : input.files()) {
            if (!added.remove(file)) {
                gone.add(file);
            }
        }
        if (!gone.isEmpty() || !added.isEmpty()) {
            throw new InputChangedException(CHANGED + "files gone: " + names(gone) + "; files added: " + names(added));
        }
    }

    private static String names(Collection<Path> files) {
        return files.isEmpty()
                ? "none"
                : NameList.of(files.stream().map(Path::toString).toList());
    }
}
