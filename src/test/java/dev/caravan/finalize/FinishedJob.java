package dev.caravan.finalize;

import dev.caravan.jsonl.Sha256;
import dev.caravan.shard.Claim;
import dev.caravan.shard.ClaimStatus;
import dev.caravan.shard.DoneRecord;
import dev.caravan.shard.Engine;
import dev.caravan.shard.Execution;
import dev.caravan.shard.FailedRecord;
import dev.caravan.shard.FailureClass;
import dev.caravan.shard.Ledger;
import dev.caravan.shard.Manifest;
import dev.caravan.shard.MergeRecord;
import dev.caravan.shard.OperatorRows;
import dev.caravan.shard.OutputForm;
import dev.caravan.shard.Policy;
import dev.caravan.shard.ShardForm;
import dev.caravan.shard.ShardId;
import dev.caravan.shard.Spent;
import dev.caravan.store.JobFiles;
import dev.caravan.store.Json;
import dev.caravan.store.Layout;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * A real job directory whose shards are all done: each of the given texts is the result of one shard of two records. Of
 * the second shard one record has failed.
 */
final class FinishedJob {
    private static final String RECIPE = "process: []\n";
    private static final String FAILED = "{\"line\":2}\n";
    private static final Clock CLOCK = Clock.fixed(Instant.parse("2026-10-01T12:00:00Z"), ZoneOffset.UTC);

    final Layout.Job layout;
    final JobFiles files;
    final Path input;
    final Path output;
    private final OutputForm outputForm;
    private final List<String> results;

    private FinishedJob(Path folder, OutputForm outputForm, List<String> results) {
        this.layout = new Layout.Job(folder.resolve("job"));
        this.files = new JobFiles(layout);
        this.input = folder.resolve("input.jsonl");
        this.output = folder.resolve(outputForm == OutputForm.PARTS ? "out/merged" : "out/merged.jsonl");
        this.outputForm = outputForm;
        this.results = results;
    }

    static FinishedJob in(Path folder, String... results) throws IOException {
        return made(ShardForm.FILES, OutputForm.FILE, folder, results);
    }

    /** The same shards as ranges of the input, without files of their own. */
    static FinishedJob inRanges(Path folder, String... results) throws IOException {
        return made(ShardForm.RANGES, OutputForm.FILE, folder, results);
    }

    /** Whose output is a folder of parts. */
    static FinishedJob inParts(Path folder, String... results) throws IOException {
        return made(ShardForm.FILES, OutputForm.PARTS, folder, results);
    }

    private static FinishedJob made(ShardForm form, OutputForm outputForm, Path folder, String... results)
            throws IOException {
        FinishedJob job = new FinishedJob(folder, outputForm, List.of(results));
        for (Path directory : List.of(job.layout.locks(), job.layout.doneRecords(), job.layout.failedRecords())) {
            Files.createDirectories(directory);
        }
        List<Manifest.Shard> shards = new ArrayList<>();
        StringBuilder all = new StringBuilder();
        for (int i = 0; i < results.length; i++) {
            shards.add(form == ShardForm.FILES ? job.shard(i) : job.range(i, all.length()));
            all.append(text(i));
            job.finish(i);
        }
        Files.writeString(job.input, all);
        Files.writeString(job.layout.recipe(), RECIPE);
        Files.write(job.layout.manifest(), Json.bytes(job.manifest(shards, all.toString())));
        return job;
    }

    private Manifest.Shard shard(int index) throws IOException {
        String text = text(index);
        Files.createDirectories(layout.shards());
        Files.writeString(layout.shard(id(index)), text);
        return new Manifest.Shard(id(index), "shards/" + id(index) + ".jsonl", 2, text.length(), sha256(text));
    }

    private Manifest.Shard range(int index, long offset) {
        String text = text(index);
        Manifest.Range range = new Manifest.Range(input.toString(), offset, text.length());
        return new Manifest.Shard(id(index), null, List.of(range), 2, text.length(), sha256(text));
    }

    private static String text(int index) {
        return "{\"shard\":" + index + ",\"row\":0}\n{\"shard\":" + index + ",\"row\":1}\n";
    }

    private Manifest manifest(List<Manifest.Shard> shards, String all) {
        return new Manifest(
                Manifest.SCHEMA_VERSION,
                "job-1",
                "2026-10-01T10:00:00Z",
                input.toString(),
                input.getParent().toString(),
                Map.of(),
                List.of(),
                List.of(new Manifest.InputFile(input.toString(), all.length(), 0, sha256(all), 2L * shards.size())),
                2L * shards.size(),
                all.length(),
                shards.get(0).path() == null ? null : sha256(all),
                shards.size(),
                shards,
                new Manifest.Recipe("/recipes/r.yaml", "recipe.yaml", sha256(RECIPE)),
                "1.6.1",
                new Execution(Engine.DATA_JUICER, List.of(), Execution.Ray.DEFAULT),
                Policy.DEFAULT,
                output.toString(),
                outputForm,
                List.of("a warning"),
                null,
                null);
    }

    /** Nodes a and b take turns. */
    private void finish(int index) throws IOException {
        String text = results.get(index);
        String node = index % 2 == 0 ? "a" : "b";
        boolean failing = index == 1;
        if (failing) {
            Files.createDirectories(failures(index).getParent());
            Files.writeString(failures(index), FAILED);
        }
        Files.write(layout.lock(id(index).toString(), 1), Json.bytes(claim(index, node)));
        Files.createDirectories(result(index).getParent());
        Files.writeString(result(index), text);
        DoneRecord record = new DoneRecord(
                id(index),
                "node-" + node,
                "host-" + node,
                7,
                "token",
                1,
                1,
                layout.relative(result(index)),
                "command",
                null,
                Ledger.of(2, text.chars().filter(c -> c == '\n').count(), failing ? 1 : 0),
                List.of(new OperatorRows("some_filter", failing ? 1 : 2, 1)),
                failing ? new DoneRecord.Failures(layout.relative(failures(index)), sha256(FAILED)) : null,
                bytes(text).length,
                sha256(text),
                List.of(),
                null,
                false,
                0.1,
                "2026-10-01T11:00:00Z");
        Files.write(layout.done(id(index)), Json.bytes(record));
    }

    void fail(int index, String reason) throws IOException {
        Files.deleteIfExists(layout.done(id(index)));
        FailedRecord record = new FailedRecord(
                id(index), "node-a", "host-a", 4, FailureClass.DATA, reason, 4, "attempts/x", "2026-10-01T11:00:00Z");
        Files.write(layout.failed(id(index)), Json.bytes(record));
    }

    ShardId id(int index) {
        return new ShardId(index, results.size());
    }

    private Claim claim(int index, String node) {
        return new Claim(
                id(index).toString(),
                1,
                "token",
                "node-" + node,
                "host-" + node,
                7,
                "2026-10-01T10:30:00Z",
                ClaimStatus.DONE,
                null,
                null,
                null,
                Spent.NOTHING,
                List.of(),
                null);
    }

    Path failures(int index) {
        return layout.attempt(id(index), 1, "token").failedRecords();
    }

    Path shardFile(int index) {
        return layout.shard(id(index));
    }

    Path result(int index) {
        return layout.attempt(id(index), 1, "token").processed();
    }

    String recordSha256(int index) throws IOException {
        return sha256(Files.readString(layout.done(id(index))));
    }

    MergeRecord merge() {
        return new Merger(CLOCK).merge(request(false));
    }

    MergeRecord mergeOverwriting() {
        return new Merger(CLOCK).merge(request(true));
    }

    MergeRecord merge(MergeRequest request) {
        return new Merger(CLOCK).merge(request);
    }

    MergeRequest request(boolean overwrite) {
        return new MergeRequest(files, output, overwrite, "node-m", () -> true);
    }

    static void replaceIn(Path file, String old, String replacement) throws IOException {
        String text = Files.readString(file);
        if (!text.contains(old)) {
            throw new AssertionError(file + " does not hold " + old + ": " + text);
        }
        Files.writeString(file, text.replaceFirst(Pattern.quote(old), replacement));
    }

    static String sha256(String text) {
        return Sha256.hex(bytes(text));
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
