package dev.caravan.intake;

import dev.caravan.shard.Engine;
import dev.caravan.shard.Execution;
import dev.caravan.shard.Manifest;
import dev.caravan.shard.OutputForm;
import dev.caravan.shard.Policy;
import dev.caravan.shard.ShardForm;
import dev.caravan.store.Layout;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import java.util.zip.GZIPOutputStream;
import org.jspecify.annotations.Nullable;

/** A folder with input, a place for the job, and a request that tests vary. */
final class Scene {
    static final Execution COMMAND = new Execution(Engine.COMMAND, List.of("cat"), Execution.Ray.DEFAULT);
    private static final Clock CLOCK = Clock.fixed(Instant.parse("2026-03-04T05:06:07.89Z"), ZoneOffset.UTC);

    final Path root;
    final Path input;
    final Layout.Job job;
    Path dataset;
    Path output;

    @Nullable
    Integer shards;

    @Nullable
    ShardForm form = ShardForm.FILES;

    OutputForm outputForm = OutputForm.FILE;
    Execution execution = COMMAND;
    int slots = 1;
    Policy policy = Policy.DEFAULT;

    @Nullable
    RecipeFacts recipe;

    @Nullable
    UniqueIds ids;

    Progress progress = Progress.NONE;

    Scene(Path root) throws IOException {
        this.root = root;
        input = Files.createDirectories(root.resolve("in"));
        job = new Layout.Job(root.resolve("jobs/j1"));
        dataset = input;
        output = root.resolve("out.jsonl");
    }

    Path write(String relative, String content) throws IOException {
        return write(relative, content.getBytes(StandardCharsets.UTF_8));
    }

    Path write(String relative, byte[] content) throws IOException {
        Path file = input.resolve(relative);
        Files.createDirectories(file.getParent());
        return Files.write(file, content);
    }

    /** A compressed file: its records, and with them all others, are read in two passes. */
    Path writePacked(String relative, String content) throws IOException {
        Path file = write(relative, "");
        try (OutputStream out = new GZIPOutputStream(Files.newOutputStream(file))) {
            out.write(content.getBytes(StandardCharsets.UTF_8));
        }
        return file;
    }

    void recipe(String content, Map<String, String> mediaKeys, List<String> indexKeys) {
        recipe = new RecipeFacts(
                root.resolve("r.yaml"),
                content.getBytes(StandardCharsets.UTF_8),
                mediaKeys,
                indexKeys,
                List.of("a warning of the recipe"),
                "1.6.1",
                RecipeFacts.Checkpoints.UNKNOWN);
    }

    PrepareRequest request() {
        return new PrepareRequest(
                job, "job-1", dataset, shards, auto(), form, execution, policy, output, outputForm, recipe, null, ids);
    }

    /** A megabyte is a minute of work. */
    AutoShards auto() {
        return new AutoShards(1_000_000, slots, execution, null);
    }

    Prepared prepare() {
        return new Prepare(CLOCK, () -> true, progress).run(request());
    }

    /** What the shards of the job hold, in manifest order. */
    List<String> shardTexts(Manifest manifest) throws IOException {
        return manifest.shards().stream().map(this::shardText).toList();
    }

    private String shardText(Manifest.Shard shard) {
        try {
            return Files.readString(job.resolve(shard.path()));
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    /** All names beside the job directory: where a forgotten stage would be. */
    List<String> besideJob() {
        Path folder = job.path().getParent();
        if (!Files.exists(folder)) {
            return List.of();
        }
        try (Stream<Path> names = Files.list(folder)) {
            return names.map(p -> p.getFileName().toString()).sorted().toList();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }
}
