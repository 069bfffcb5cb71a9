package dev.caravan;

import dev.caravan.jsonl.Sha256;
import dev.caravan.shard.Engine;
import dev.caravan.shard.Execution;
import dev.caravan.shard.Manifest;
import dev.caravan.shard.OutputForm;
import dev.caravan.shard.Policy;
import dev.caravan.shard.ShardId;
import dev.caravan.store.JobFiles;
import dev.caravan.store.Json;
import dev.caravan.store.Layout;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** A prepared job directory of engine command; each shard holds one record. */
public final class TestJob {
    public static final Policy POLICY = new Policy(1, 10, 1, 1, Duration.ZERO, Duration.ZERO);

    public final Layout.Job layout;
    public final JobFiles files;
    public final Manifest manifest;

    private TestJob(Layout.Job layout, Manifest manifest) {
        this.layout = layout;
        this.files = new JobFiles(layout);
        this.manifest = manifest;
    }

    public static TestJob in(Path folder, int shards, String... command) throws IOException {
        Layout.Job layout = new Layout.Job(folder.resolve("job"));
        for (Path directory : List.of(
                layout.shards(), layout.locks(), layout.doneRecords(), layout.failedRecords(), layout.attempts())) {
            Files.createDirectories(directory);
        }
        List<Manifest.Shard> parts = new ArrayList<>();
        StringBuilder all = new StringBuilder();
        for (int i = 0; i < shards; i++) {
            ShardId id = new ShardId(i, shards);
            String record = "{\"row\":" + i + "}\n";
            Files.writeString(layout.shard(id), record);
            all.append(record);
            parts.add(new Manifest.Shard(id, layout.relative(layout.shard(id)), 1, record.length(), sha256(record)));
        }
        Manifest manifest = new Manifest(
                Manifest.SCHEMA_VERSION,
                "job",
                "2026-10-01T10:00:00Z",
                folder.resolve("input.jsonl").toString(),
                folder.toString(),
                Map.of(),
                List.of(),
                List.of(),
                shards,
                all.length(),
                sha256(all.toString()),
                shards,
                parts,
                null,
                null,
                new Execution(
                        Engine.COMMAND,
                        command.length == 0 ? List.of("cp", "{input}", "{output}") : List.of(command),
                        Execution.Ray.DEFAULT),
                POLICY,
                layout.mergedByDefault().toString(),
                OutputForm.FILE,
                List.of(),
                null,
                null);
        Files.write(layout.manifest(), Json.bytes(manifest));
        return new TestJob(layout, manifest);
    }

    private static String sha256(String text) {
        return Sha256.hex(text.getBytes(StandardCharsets.UTF_8));
    }

    public ShardId id(int index) {
        return manifest.shards().get(index).id();
    }
}
