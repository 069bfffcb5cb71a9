package dev.caravan.status;

import static org.assertj.core.api.Assertions.assertThat;

import dev.caravan.TestJob;
import dev.caravan.shard.Claim;
import dev.caravan.shard.ClaimStatus;
import dev.caravan.shard.DoneRecord;
import dev.caravan.shard.FailureClass;
import dev.caravan.shard.Ledger;
import dev.caravan.shard.ShardId;
import dev.caravan.shard.Spent;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FiguresReaderTest {
    @TempDir
    Path folder;

    private TestJob job;

    @BeforeEach
    void job() throws IOException {
        job = TestJob.in(folder, 4);
    }

    private void done(int index, double seconds, String finishedAt) throws IOException {
        ShardId id = job.id(index);
        job.files.publishDone(new DoneRecord(
                id,
                "n1",
                "h",
                1,
                "t",
                1,
                1,
                "o",
                "command",
                null,
                Ledger.of(10, 9, 0),
                List.of(),
                null,
                5,
                "s",
                List.of(),
                null,
                false,
                seconds,
                finishedAt));
    }

    private void failed(int index, long epoch, FailureClass failure, String reason) throws IOException {
        job.files
                .locks()
                .create(new Claim(
                        job.id(index).toString(),
                        epoch,
                        "t" + index + epoch,
                        "n1",
                        "h",
                        1,
                        "2026-10-01T10:00:00Z",
                        ClaimStatus.FAILED,
                        failure,
                        reason,
                        "attempts/" + job.id(index) + "/000" + epoch + "-t",
                        Spent.NOTHING,
                        List.of(),
                        null));
    }

    @Test
    void a_job_of_which_nothing_is_done_has_empty_figures() throws IOException {
        assertThat(FiguresReader.of(job.files)).isEqualTo(new JobFigures(List.of(), List.of(), List.of(), List.of()));
    }

    @Test
    void rows_are_counted_in_equal_stretches_from_the_first_start_to_the_last_end() throws IOException {
        done(0, 60, "2026-10-01T10:01:00Z");
        done(1, 90, "2026-10-01T10:01:30Z");
        done(2, 1, "2026-10-01T10:04:00Z");

        JobFigures figures = FiguresReader.of(job.files);

        List<JobFigures.Stretch> stretches = figures.throughput();
        assertThat(stretches.stream().mapToLong(JobFigures.Stretch::rows).sum()).isEqualTo(30);
        assertThat(stretches).hasSizeLessThanOrEqualTo(60).allMatch(stretch -> stretch.seconds() == 5);
        assertThat(stretches.get(12))
                .isEqualTo(new JobFigures.Stretch(stretches.get(0).from() + 60_000, 5, 10, 1));
        assertThat(figures.slowest())
                .extracting(JobFigures.Span::shard)
                .containsExactly(job.id(1), job.id(0), job.id(2));
    }

    @Test
    void failures_that_differ_in_numbers_only_are_one_cause_with_a_first_example() throws IOException {
        failed(0, 1, FailureClass.DATA, "line 7 is bad");
        failed(0, 2, FailureClass.DATA, "line 19 is bad");
        failed(1, 1, FailureClass.INFRA, "line 7 is bad");
        failed(2, 1, FailureClass.DATA, "line 8 is bad\nand more");
        failed(3, 1, FailureClass.STALLED, "silent");

        List<JobFigures.ErrorClass> errors = FiguresReader.of(job.files).errors();

        assertThat(errors).hasSize(3);
        JobFigures.ErrorClass first = errors.get(0);
        assertThat(first.count()).isEqualTo(3);
        assertThat(first.failureClass()).isEqualTo(FailureClass.DATA);
        assertThat(first.example()).isEqualTo(new JobFigures.Example(job.id(0), 1, "n1", "line 7 is bad", "0001-t"));
    }
}
