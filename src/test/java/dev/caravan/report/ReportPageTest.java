package dev.caravan.report;

import static org.assertj.core.api.Assertions.assertThat;

import dev.caravan.TestJob;
import dev.caravan.shard.DoneRecord;
import dev.caravan.shard.FailedRecord;
import dev.caravan.shard.FailureClass;
import dev.caravan.shard.Ledger;
import dev.caravan.status.StatusReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ReportPageTest {
    private static final String HOSTILE =
            "</td><script>alert(1)</script><img src=x onerror='alert(1)'>\" onload=\"%s %d";

    @TempDir
    Path folder;

    private String report(TestJob job) throws IOException {
        ReportPage.write(
                job.files,
                new StatusReader(job.layout, Duration.ofSeconds(45)).read(),
                Instant.parse("2026-10-01T11:02:03Z"));
        return Files.readString(job.layout.report());
    }

    private static void done(TestJob job, int index, String node) throws IOException {
        job.files.publishDone(new DoneRecord(
                job.id(index),
                node,
                "host",
                1,
                "t",
                1,
                1,
                "o",
                "command",
                null,
                Ledger.of(1, 1, 0),
                List.of(),
                null,
                5,
                "s",
                List.of(),
                null,
                false,
                30,
                "2026-10-01T10:0" + index + ":00Z"));
    }

    @Test
    void a_report_tells_what_ran_where_how_long_what_failed_and_what_to_do() throws IOException {
        TestJob job = TestJob.in(folder, 3, "clean", "{input}", "{output}");
        done(job, 0, "n1");
        done(job, 1, "n2");
        job.files.publishFailed(new FailedRecord(
                job.id(2),
                "n1",
                "host",
                2,
                FailureClass.DATA,
                "line 7 is bad",
                2,
                "attempts/x",
                "2026-10-01T10:05:00Z"));

        String report = report(job);

        assertThat(report)
                .contains("<h1>job: failed</h1>")
                .contains("caravan retry --job-dir " + job.layout.path() + " --all-failed")
                .contains("clean {input} {output}")
                .contains("1 h 02 min 03 s")
                .contains("line 7 is bad", "attempts/x/process.log")
                .contains("part-00001-of-00003, 30.0 s, 1 rows")
                .contains("<th scope=\"row\">policy.max_retries</th><td>1</td>");
        assertThat(Pattern.compile("<rect ").matcher(report).results().count())
                .as("two shards and as many stretches of time")
                .isGreaterThan(2);
        assertThat(report).doesNotContain("<script", "http://", "https://", "<link", "<img");
    }

    @Test
    void whatever_a_value_holds_is_text() throws IOException {
        TestJob job = TestJob.in(folder, 2, HOSTILE);
        done(job, 0, HOSTILE);
        job.files.publishFailed(new FailedRecord(
                job.id(1), HOSTILE, HOSTILE, 2, FailureClass.DATA, HOSTILE + "\u0000", 2, HOSTILE, HOSTILE));

        String report = report(job);

        assertThat(report)
                .contains("&lt;script&gt;alert(1)&lt;/script&gt;")
                .doesNotContain("<script", "<img", "\u0000");
        String tags = report.replaceAll("(?s)<style>.*?</style>", "");
        assertThat(Pattern.compile("<[^>]*\\son\\w+=").matcher(tags).find())
                .as("an attribute that runs something")
                .isFalse();
        assertThat(report).contains("default-src 'none'");
    }
}
