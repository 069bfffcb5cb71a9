package dev.caravan.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What broke other programs, by the numbers of a collection of public bug reports, where it takes a process to see it. */
class PublicReportsIT {
    private static final int HUGE = 32 << 20;
    private static final int LARGE = 96 << 20;

    @RegisterExtension
    final Fleet fleet = new Fleet();

    @ParameterizedTest(name = "J23 one huge record between short ones, shards: {0}")
    @ValueSource(strings = {"files", "ranges"})
    @DisplayName("J23 memory is a small multiple of the record, and what does not fit is told with line and remedy")
    void a_huge_record(String form) throws IOException {
        Sample job = new Sample(fleet.folder(), "huge", 0, 3).written("", "shards: " + form);
        try (Writer rows = Files.newBufferedWriter(job.input())) {
            for (int i = 0; i < 10_000; i++) {
                rows.write("{\"i\":" + i + "}\n");
                if (i == 4_999) {
                    rows.write("{\"t\":\"");
                    for (int k = 0; k < HUGE; k += 1 << 20) {
                        rows.write("QUJD".repeat(1 << 18));
                    }
                    rows.write("\"}\n");
                }
            }
        }
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
