package dev.caravan.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.caravan.packing.Packed;
import dev.caravan.shard.ShardId;
import dev.caravan.store.JobFiles;
import dev.caravan.store.Layout;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Input with bad lines, from the quarantine to the merged file that has them all. */
class BadRecordsIT {
    private static final String QUARANTINE = "policy: {on_bad_record: quarantine, max_bad_percent: 1}";

    @RegisterExtension
    final Fleet fleet = new Fleet();

    @Test
    @DisplayName(
            "U13 of 1000 lines 7 are bad: 993 go on, 7 are told everywhere, and come to their places once repaired")
    void bad_records_are_quarantined_told_repaired_and_merged_at_their_places() throws IOException {
        Sample job = new Sample(fleet.folder(), "odd", 1000, 5).written("", QUARANTINE);
        List<String> good = Files.readAllLines(job.input());
        TreeMap<Integer, String> bad = new TreeMap<>();
        List.of(0, 3, 4, 210, 215, 220, 999).forEach(i -> bad.put(i, good.get(i)));
        List<String> lines = new ArrayList<>(good);
        bad.forEach((i, line) -> lines.set(i, line.substring(0, line.length() - 1)));
        Files.write(job.input(), lines);
        String whole = String.join("\n", good).replace("red", "blue") + "\n";
        String dir = job.jobDir();

        assertThat(fleet.run("prepare", job.descriptor().toString(), "--job-dir", dir)
                        .endsWith(0)
                        .stdout())
                .contains("993 rows in 5 shards, 7 bad records quarantined");
        fleet.run("worker", "--job-dir", dir).endsWith(0);
        assertThat(fleet.run("merge", "--job-dir", dir).endsWith(0).stdout())
                .contains("rows    993", "bad     7 records of the input are quarantined");
        assertThat(fleet.run("status", "--job-dir", dir).endsWith(0).stdout())
                .contains("state   done", "bad     7 records of the input are quarantined");
        assertThat(fleet.run("verify", "--job-dir", dir).endsWith(0).stdout())
                .contains("quarantine 7 bad records set aside", "PASS");
        assertThat(job.runs()).hasSize(5);

        Path repaired = fleet.folder().resolve("repaired.txt");
        Files.write(repaired, bad.values());
        Layout.Job next = new Layout.Job(fleet.folder().resolve("jobs").resolve("repaired"));
        String[] rerun = {
            "rerun",
            "--quarantined",
            "--job-dir",
            dir,
            "--new-job-dir",
            next.path().toString(),
            "--repaired",
            repaired.toString()
        };
        assertThat(fleet.run(rerun).endsWith(0).stdout())
                .contains("7 repaired records in 1000 rows, 2 of 5 shards keep their results, 0 bad records stay");
        assertThat(fleet.run(rerun).endsWith(2).stderr()).contains("a job never changes what it is");
        fleet.run("worker", "--job-dir", next.path().toString()).endsWith(0);
        fleet.run("merge", "--job-dir", next.path().toString()).endsWith(0);

        assertThat(next.mergedByDefault()).content().isEqualTo(whole);
        assertThat(job.runs()).as("three shards got a record").hasSize(8);
        assertThat(fleet.run("verify", "--job-dir", next.path().toString())
                        .endsWith(0)
                        .stdout())
                .contains("quarantine 0 bad records set aside, 7 repaired", "PASS");
        fleet.run("doctor", "--job-dir", next.path().toString()).endsWith(0);
        assertThat(new JobFiles(next).done(new ShardId(2, 5)))
                .isEqualTo(new JobFiles(job.inOwnDirectory()).done(new ShardId(2, 5)));
    }

    @Test
    @DisplayName("F11 Z01 J08 S05 one merged file of plain, gzip and zstd input, whatever the number of shards")
    void packed_input_gives_the_same_bytes_for_one_shard_and_for_seven() throws IOException {
        Sample one = new Sample(fleet.folder(), "one", 90, 1).written("");
        Sample seven = new Sample(fleet.folder(), "seven", 90, 7).written("");
        List<String> lines = Files.readAllLines(one.input());
        Path in = Files.createDirectory(fleet.folder().resolve("in"));
        Files.writeString(in.resolve("a.jsonl"), "\uFEFF" + String.join("\r\n\r\n", lines.subList(0, 30)));
        Files.write(
                in.resolve("b.ndjson.GZ"),
                Packed.join(Packed.gzip(text(lines, 30, 31)), Packed.gzip(text(lines, 31, 60))));
        Files.write(
                in.resolve("c.jsonl.zst"),
                Packed.join(Packed.zstd(text(lines, 60, 89)), Packed.zstd(text(lines, 89, 90))));
        List<JsonNode> merged = new ArrayList<>();
        for (Sample job : List.of(one, seven)) {
            Sample.write(
                    job.descriptor(),
                    Sample.read(job.descriptor()).replace(job.input().toString(), in.toString()));
            merged.add(fleet.run("run", job.descriptor().toString(), "--job-dir", job.jobDir(), "--json")
                    .endsWith(0)
                    .json());
            fleet.run("verify", "--job-dir", job.jobDir()).endsWith(0);
        }

        assertThat(one.inOwnDirectory().mergedByDefault()).content().isEqualTo(one.expected());
        assertThat(merged.get(0).at("/sha256")).isEqualTo(merged.get(1).at("/sha256"));
        assertThat(merged.get(1).at("/shards")).hasSize(7);
    }

    private static String text(List<String> lines, int from, int to) {
        return String.join("\n", lines.subList(from, to)) + "\n";
    }
}
