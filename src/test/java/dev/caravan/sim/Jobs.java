package dev.caravan.sim;

import dev.caravan.shard.Engine;
import dev.caravan.shard.Execution;
import dev.caravan.shard.Manifest;
import dev.caravan.shard.OutputForm;
import dev.caravan.shard.Policy;
import dev.caravan.shard.ShardId;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/** Jobs of which only the shards matter. */
final class Jobs {
    private Jobs() {}

    static Manifest manifest(int shards, Policy policy) {
        return new Manifest(
                Manifest.SCHEMA_VERSION,
                "job",
                "2026-10-01T00:00:00Z",
                "/in.jsonl",
                "/",
                Map.of(),
                List.of(),
                List.of(),
                shards,
                shards,
                "00",
                shards,
                IntStream.range(0, shards)
                        .mapToObj(i -> new ShardId(i, shards))
                        .map(id -> new Manifest.Shard(id, "shards/" + id + ".jsonl", 1, 1, "00"))
                        .toList(),
                null,
                null,
                new Execution(Engine.COMMAND, List.of("true"), Execution.Ray.DEFAULT),
                policy,
                "/out.jsonl",
                OutputForm.FILE,
                List.of(),
                null,
                null);
    }
}
