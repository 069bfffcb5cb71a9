package dev.caravan.finalize;

import dev.caravan.packing.Packing;
import dev.caravan.shard.Manifest;
import dev.caravan.shard.OutputForm;
import dev.caravan.store.Disk;
import dev.caravan.store.Layout;
import java.nio.file.Path;
import java.util.List;

/** Where a merged file may not go: over anything the job was made of. */
final class OutputRules {
    private OutputRules() {}

    static void check(Path output, Layout.Job job, Manifest manifest) {
        boolean parts = manifest.outputForm() == OutputForm.PARTS;
        if (!parts && Disk.isDirectory(output)) {
            throw refusal(output, "a folder");
        }
        if (parts
                && manifest.inputFiles().stream()
                        .anyMatch(input -> Path.of(input.path()).startsWith(output))) {
            throw refusal(output, "a folder of input");
        }
        for (Path own : List.of(job.manifest(), job.recipe(), job.mergeRecord())) {
            if (output.equals(own)) {
                throw refusal(output, "a file of the job itself");
            }
        }
        for (Path own : List.of(
                job.shards(), job.attempts(), job.checkpoints(), job.state(), job.cache(), job.coordination())) {
            if (output.startsWith(own)) {
                throw refusal(output, "a place in a folder of the job itself");
            }
        }
        if (Packing.of(output) != Packing.NONE) {
            throw refusal(output, "a name of compressed files, while the merged file is plain text");
        }
        if (manifest.inputFiles().stream().anyMatch(input -> output.equals(Path.of(input.path())))) {
            throw refusal(output, "an input file of the job");
        }
    }

    private static MergeException refusal(Path output, String found) {
        return new MergeException("the output must have a place of its own, found " + output + ", which is " + found
                + "; choose another --output");
    }
}
