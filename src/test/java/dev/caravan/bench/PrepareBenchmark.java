package dev.caravan.bench;

import static org.assertj.core.api.Assertions.assertThat;

import dev.caravan.jsonl.Sha256;
import dev.caravan.shard.Manifest;
import dev.caravan.shard.ShardForm;
import dev.caravan.store.JobFiles;
import dev.caravan.store.Layout;
import dev.caravan.store.ShardBytes;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.DigestInputStream;
import java.util.HexFormat;
import java.util.List;

/** From one large file to a prepared job, in both forms of shards. */
final class PrepareBenchmark implements Benchmark {
    private static final int SHARDS = 16;

    @Override
    public Table run(Bench bench) throws IOException {
        Path folder = Files.createDirectory(bench.folder().resolve("prepare"));
        Path input = WebRecords.write(folder.resolve("input.jsonl"), bench.megabytes());
        bench.keepClasses(folder);
        Cost[] cost = bench.best(List.of(
                round -> Bench.peer("prepare", input, folder.resolve("peer-" + round), SHARDS),
                round -> ours(folder, input, ShardForm.RANGES, round),
                round -> ours(folder, input, ShardForm.FILES, round),
                round -> Bench.shell("sha256sum '" + input + "'"),
                round -> Bench.shell("sha256sum '" + input + "' && cp '" + input + "' '" + input + ".copy'")));
        String peer = sha256(folder.resolve("peer-0"));
        for (ShardForm form : ShardForm.values()) {
            Layout.Job job = new Layout.Job(folder.resolve(form + "-0"));
            Manifest manifest = new JobFiles(job).manifest();
            assertThat(manifest.shardForm()).isEqualTo(form);
            assertThat(manifest.shards()).hasSize(SHARDS);
            assertThat(sha256(job, manifest))
                    .as("records of all shards, %s", form)
                    .isEqualTo(peer);
        }
        String work = "prepare %d MB, shards: ".formatted(bench.megabytes());
        return Row.table(
                new Row(work + "ranges", cost[0], cost[1], cost[3], "sha256sum"),
                new Row(work + "files", cost[0], cost[2], cost[4], "sha256sum, cp"));
    }

    private static List<String> ours(Path folder, Path input, ShardForm form, int round) throws IOException {
        return Bench.installed(
                folder, "prepare", descriptor(folder, input, form), "--job-dir", folder.resolve(form + "-" + round));
    }

    static Path descriptor(Path folder, Path input, ShardForm form) throws IOException {
        return Files.writeString(folder.resolve(form + ".yaml"), """
                name: bench
                engine: command
                command: [cp, "{input}", "{output}"]
                dataset_path: %s
                num_shards: %d
                shards: %s
                """.formatted(input, SHARDS, form));
    }

    /** Of all shard files of the peer, in order. */
    private static String sha256(Path shards) throws IOException {
        List<Path> files;
        try (var names = Files.list(shards)) {
            files = names.sorted().toList();
        }
        var all = Sha256.digest();
        for (Path file : files) {
            try (InputStream in = new DigestInputStream(Files.newInputStream(file), all)) {
                in.transferTo(OutputStream.nullOutputStream());
            }
        }
        return HexFormat.of().formatHex(all.digest());
    }

    private static String sha256(Layout.Job job, Manifest manifest) throws IOException {
        var all = Sha256.digest();
        for (Manifest.Shard shard : manifest.shards()) {
            try (InputStream in = new DigestInputStream(ShardBytes.open(job, shard), all)) {
                in.transferTo(OutputStream.nullOutputStream());
            }
        }
        return HexFormat.of().formatHex(all.digest());
    }
}
