package dev.caravan.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.caravan.store.JobFiles;
import java.io.IOException;
import java.io.InputStream;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What broke other programs, by the numbers of a collection of public bug reports, where it takes a process to see it. */
class PublicReportsIT {
    private static final int HUGE = 32 << 20;
    private static final int LARGE = 96 << 20;
    private static final int VAST = 120 << 20;

    @RegisterExtension
    final Fleet fleet = new Fleet();

    /** @param huge bytes of the record in the middle */
    private static void writeRows(Path file, int huge) throws IOException {
        try (Writer rows = Files.newBufferedWriter(file)) {
            for (int i = 0; i < 10_000; i++) {
                rows.write("{\"i\":" + i + "}\n");
                if (i == 4_999) {
                    rows.write("{\"t\":\"");
                    for (int k = 0; k < huge; k += 1 << 20) {
                        rows.write("QUJD".repeat(1 << 18));
                    }
                    rows.write("\"}\n");
                }
            }
        }
    }

    @ParameterizedTest(name = "J23 one huge record between short ones, shards: {0}")
    @ValueSource(strings = {"files", "ranges"})
    @DisplayName("J23 memory is a small multiple of the record, and what does not fit is told with line and remedy")
    void a_huge_record(String form) throws IOException {
        Sample job = new Sample(fleet.folder(), "huge", 0, 3).written("", "shards: " + form);
        writeRows(job.input(), HUGE);
        String[] run = {"run", job.descriptor().toString(), "--job-dir", job.jobDir()};

        assertThat(fleet.withVariable("JAVA_TOOL_OPTIONS", "-Xmx60m")
                        .run("prepare", job.descriptor().toString(), "--job-dir", job.jobDir())
                        .endsWith(2)
                        .stderr())
                .contains(job.input() + ": line 5001 at byte ", "goes on for more than ", "raise -Xmx")
                .doesNotContain("\tat ");
        assertThat(job.inOwnDirectory().path()).doesNotExist();

        fleet.withVariable("JAVA_TOOL_OPTIONS", "-Xmx180m").run(run).endsWith(0);

        Path merged = job.inOwnDirectory().mergedByDefault();
        assertThat(Files.mismatch(merged, job.input())).isEqualTo(-1);
        assertThat(Files.exists(job.inOwnDirectory().shards())).isEqualTo(form.equals("files"));
        fleet.run("verify", "--job-dir", job.jobDir()).endsWith(0);
    }

    @Test
    @DisplayName("J23 a record of 120 MB with the default settings: in memory of a few times its size, byte for byte")
    void a_record_of_120_megabytes() throws IOException {
        Sample job = new Sample(fleet.folder(), "vast", 0, 3).written("");
        writeRows(job.input(), VAST);

        fleet.withVariable("JAVA_TOOL_OPTIONS", "-Xmx512m")
                .run("run", job.descriptor().toString(), "--job-dir", job.jobDir())
                .endsWith(0);

        assertThat(Files.mismatch(job.inOwnDirectory().mergedByDefault(), job.input()))
                .isEqualTo(-1);
    }

    @Test
    @DisplayName("J16 F09 what readers drop and what was left out is told by log, merge, report and manifest")
    void what_is_dropped_or_left_out_is_told() throws IOException {
        Sample job = new Sample(fleet.folder(), "told", 0, 1).written("");
        Path input = Files.createDirectory(fleet.folder().resolve("in"));
        String rows = "{\"b\":1,\"a\":2,\"b\":3}\n{}\n";
        Files.writeString(input.resolve("\u00e9.jsonl"), rows);
        fleet.startCommand("printf", List.of("bash", "-c", "echo '{}' > '" + input + "'/$'\\xff\\xfe.jsonl'"))
                .endsWith(0);
        Sample.write(job.descriptor(), job.yaml().replace("dataset_path: " + job.input(), "dataset_path: " + input));
        String repeated = "records with a key twice in one object (1), ";
        String leftOut = "(1; rename them to have them read): \\xff\\xfe.jsonl";

        CaravanProcess refused = fleet.startUnder(
                        List.of("env", "LC_ALL=C"), "prepare", job.descriptor().toString(), "--job-dir", job.jobDir())
                .endsWith(2);
        assertThat(refused.stderr())
                .contains("have names that cannot be read", "Start Caravan in a UTF-8 locale, such as LC_ALL=C.UTF-8");
        assertThat(job.inOwnDirectory().path()).doesNotExist();

        CaravanProcess run = fleet.withVariable("LC_ALL", "C.UTF-8")
                .run("run", job.descriptor().toString(), "--job-dir", job.jobDir())
                .endsWith(0);

        assertThat(job.inOwnDirectory().mergedByDefault()).content().isEqualTo(rows);
        for (String told : List.of(
                run.stderr(),
                run.stdout(),
                Sample.read(job.inOwnDirectory().path().resolve("report.html")),
                String.join("\n", new JobFiles(job.inOwnDirectory()).manifest().warnings()))) {
            assertThat(told).contains(repeated, leftOut);
        }
    }

    @Test
    @DisplayName("S13 memory does not grow with the size of a shard")
    void a_large_shard() throws IOException {
        Sample job = new Sample(fleet.folder(), "large", 0, 1).written("");
        String row = "{\"colour\":\"red\", \"t\":\"" + "x".repeat(1000) + "\"}\n";
        try (Writer rows = Files.newBufferedWriter(job.input())) {
            for (int size = 0; size < LARGE; size += row.length()) {
                rows.write(row);
            }
        }

        fleet.withVariable("JAVA_TOOL_OPTIONS", "-Xmx48m")
                .run("run", job.descriptor().toString(), "--job-dir", job.jobDir())
                .endsWith(0);

        try (InputStream merged = Files.newInputStream(job.inOwnDirectory().mergedByDefault())) {
            byte[] expected = row.replace("red", "blue").getBytes(StandardCharsets.UTF_8);
            for (int size = 0; size < LARGE; size += row.length()) {
                assertThat(merged.readNBytes(expected.length)).isEqualTo(expected);
            }
            assertThat(merged.read()).isEqualTo(-1);
        }
    }
}
