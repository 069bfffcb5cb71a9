package dev.caravan.intake;

import dev.caravan.jsonl.Sha256;
import dev.caravan.shard.Manifest;
import dev.caravan.store.SourceTree.Stamp;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Compares a prepared job with a request. The same are: schema, dataset path, recipe content, number of shards,
 * execution, policy, output, and path, size, time and SHA-256 of every input file. Auto is any number of shards: it may
 * depend on the nodes that are known at the time.
 */
final class ExistingJob {
    private final Manifest manifest;
    private final PrepareRequest request;

    ExistingJob(Manifest manifest, PrepareRequest request) {
        this.manifest = manifest;
        this.request = request;
    }

    /** Reads all input, unless the request differs anyway. @throws IntakeException if anything differs */
    Prepared.Unchanged compareByReading(List<Path> input, ReadWatch watch) throws IOException {
        List<String> differences = inRequest();
        Map<String, Manifest.InputFile> known = new HashMap<>();
        manifest.inputFiles().forEach(file -> known.put(file.path(), file));
        List<Manifest.InputFile> unread = new ArrayList<>();
        for (Path file : input) {
            Stamp stamp = Stamp.of(file);
            Manifest.@Nullable InputFile before = known.get(file.toString());
            unread.add(new Manifest.InputFile(
                    file.toString(),
                    stamp.size(),
                    stamp.mtimeNs(),
                    before == null ? "" : before.sha256(),
                    before == null ? 0 : before.rows()));
        }
        differences.addAll(inInput(unread));
        if (!differences.isEmpty()) {
            throw refusal(differences);
        }
        unread.forEach(file -> watch.expect(file.size()));
        List<Manifest.InputFile> read = new ArrayList<>();
        for (Manifest.InputFile file : unread) {
            watch.check();
            String sha256 = HashedInput.sha256Of(Path.of(file.path()), watch);
            read.add(new Manifest.InputFile(file.path(), file.size(), file.mtimeNs(), sha256, file.rows()));
        }
        return compare(read);
    }

    /** @throws IntakeException if anything differs */
    Prepared.Unchanged compare(List<Manifest.InputFile> input) {
        List<String> differences = inRequest();
        differences.addAll(inInput(input));
        if (!differences.isEmpty()) {
            throw refusal(differences);
        }
        return new Prepared.Unchanged(manifest);
    }

    private List<String> inRequest() {
        List<String> found = new ArrayList<>();
        Integer shards = request.numShards();
        differ(found, "schema_version", manifest.schemaVersion(), Manifest.SCHEMA_VERSION);
        differ(
                found,
                "dataset_path",
                manifest.datasetPath(),
                request.datasetPath().toString());
        if (shards != null) {
            differ(found, "num_shards", manifest.numShards(), shards);
        }
        if (request.shardForm() != null) {
            differ(found, "shards", manifest.shardForm(), request.shardForm());
        }
        differ(found, "recipe sha256", recipeOf(manifest), recipeOf(request));
        differ(found, "execution", manifest.execution(), request.execution());
        differ(found, "policy", manifest.policy(), request.policy());
        differ(found, "output", manifest.output(), request.output().toString());
        differ(found, "output form", manifest.outputForm(), request.outputForm());
        return found;
    }

    private List<String> inInput(List<Manifest.InputFile> input) {
        Map<String, Manifest.InputFile> now = new HashMap<>();
        input.forEach(file -> now.put(file.path(), file));
        List<String> changed = new ArrayList<>();
        for (Manifest.InputFile before : manifest.inputFiles()) {
            Manifest.@Nullable InputFile after = now.remove(before.path());
            if (after == null) {
                changed.add(before.path() + " (gone)");
            } else if (!after.equals(before)) {
                changed.add(before.path() + " (" + whatDiffers(before, after) + ")");
            }
        }
        now.keySet().stream().sorted().forEach(path -> changed.add(path + " (new)"));
        return changed.isEmpty() ? List.of() : List.of("input files: " + NameList.of(changed));
    }

    private static String whatDiffers(Manifest.InputFile before, Manifest.InputFile after) {
        if (before.size() != after.size()) {
            return "size was " + before.size() + ", is " + after.size();
        }
        if (before.mtimeNs() != after.mtimeNs()) {
            return "modification time was " + before.mtimeNs() + " ns, is " + after.mtimeNs() + " ns";
        }
        return "content (sha256) changed";
    }

    private static void differ(List<String> found, String field, Object was, Object is) {
        if (!Objects.equals(was, is)) {
            found.add(field + " was " + was + ", asked for is " + is);
        }
    }

    private static String recipeOf(Manifest manifest) {
        return manifest.recipe() == null ? "none" : manifest.recipe().sha256();
    }

    private static String recipeOf(PrepareRequest request) {
        return request.recipe() == null ? "none" : Sha256.hex(request.recipe().content());
    }

    private IntakeException refusal(List<String> differences) {
        return new IntakeException("Job directory " + request.job().path()
                + " already exists and does not match this request: " + String.join("; ", differences)
                + ". Choose a new --job-dir, or repeat the request it was prepared with");
    }
}
