package dev.caravan.exec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.caravan.FakeNanos;
import dev.caravan.TestJob;
import dev.caravan.claim.JobControl;
import dev.caravan.claim.ShardClaims;
import dev.caravan.exec.ChildBinding.ChildCommand;
import dev.caravan.lease.ClaimedShard;
import dev.caravan.lease.Heart;
import dev.caravan.lease.LeaseLostException;
import dev.caravan.lease.RetryPace;
import dev.caravan.shard.AttemptRecord;
import dev.caravan.shard.AttemptStatus;
import dev.caravan.shard.Claim;
import dev.caravan.shard.ClaimStatus;
import dev.caravan.shard.DoneRecord;
import dev.caravan.shard.FailedRecord;
import dev.caravan.shard.FailureClass;
import dev.caravan.shard.GpuDemand;
import dev.caravan.shard.Ledger;
import dev.caravan.shard.Manifest;
import dev.caravan.shard.NodeIdentity;
import dev.caravan.shard.TestClaims;
import dev.caravan.shard.Timing;
import dev.caravan.store.Json;
import dev.caravan.store.LeaseStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.camel.Exchange;
import org.apache.camel.component.exec.ExecException;
import org.apache.camel.impl.DefaultCamelContext;
import org.apache.camel.support.DefaultExchange;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The steps of the exec route, called by hand in the route's order. */
class AttemptsTest {
    @TempDir
    Path folder;

    private final FakeNanos clock = new FakeNanos();
    private final Heart heart = new Heart(
            new Timing(Duration.ofSeconds(45), Duration.ofSeconds(10), Duration.ofSeconds(10)),
            clock,
            Clock.systemUTC());
    private final Slots slots = new Slots(1, 1, new Gpus(List.of("0")));
    private final AtomicBoolean leaving = new AtomicBoolean();
    private final Attempts attempts = new Attempts(
            () -> {
                throw new AssertionError("engine command needs no Python");
            },
            Map.of(),
            slots,
            leaving::get,
            new ShardInputs(Path.of(System.getProperty("java.io.tmpdir")), 0),
            Duration.ofSeconds(30));
    private final DefaultCamelContext camel = new DefaultCamelContext();
    private TestJob job;
    private ClaimedShard shard;
    private Exchange exchange;

    @BeforeEach
    void job() throws IOException {
        job = TestJob.in(folder, 1);
        claim(job);
    }

    @AfterEach
    void close() throws IOException {
        heart.close();
        camel.close();
    }

    private void claim(TestJob from) throws IOException {
        claim(from, from.manifest);
    }

    private void claim(TestJob from, Manifest manifest) throws IOException {
        shard = new ShardClaims(
                        from.files,
                        manifest,
                        heart,
                        new NodeIdentity("me", "h", 1),
                        new RetryPace(Duration.ZERO, Duration.ZERO, Duration.ZERO))
                .claimNext()
                .orElseThrow();
        takeSlot();
        exchange = new DefaultExchange(camel);
        exchange.getMessage().setBody(shard);
    }

    private void takeSlot() {
        slots.assign(token(), slots.take(GpuDemand.NONE).orElseThrow());
    }

    private String token() {
        return shard.lease().claim().token();
    }

    private void run() throws Exception {
        attempts.begin(shard, exchange);
        ChildCommand command = new ChildCommand(exchange.getProperty(ChildBinding.CHILD, Child.class));
        try (ChildExecutor executor = new ChildExecutor(Duration.ofSeconds(5))) {
            executor.execute(command);
        }
        ended(command.end);
    }

    private void ended(Child.End end) {
        exchange.setProperty(ChildBinding.END, end);
    }

    private void fail(Exception failure) {
        attempts.fail(shard, exchange, failure);
    }

    private AttemptFailed failureOf(Child.End end) throws Exception {
        attempts.begin(shard, exchange);
        ended(end);
        return catchThrowableOfType(AttemptFailed.class, () -> attempts.collect(shard, exchange));
    }

    private AttemptRecord record() throws IOException {
        return Json.parse(Files.readAllBytes(shard.attempt().record()), AttemptRecord.class);
    }

    private Claim claimOnDisk() throws IOException {
        return new LeaseStore(job.layout.locks())
                .look(job.id(0).toString(), shard.lease().claim().epoch())
                .orElseThrow()
                .claim()
                .orElseThrow();
    }

    @Test
    void a_child_that_succeeds_makes_the_shard_done() throws Exception {
        run();
        attempts.collect(shard, exchange);
        attempts.publish(shard, exchange);

        DoneRecord done = job.files.done(job.id(0)).orElseThrow();
        assertThat(job.layout.resolve(done.outputPath())).hasContent("{\"row\":0}\n");
        assertThat(done.rows()).isEqualTo(1);
        assertThat(done.rowsIn()).isEqualTo(1);
        assertThat(done.epoch()).isEqualTo(1);
        assertThat(done.attemptNumber()).isEqualTo(1);
        assertThat(done.token()).isEqualTo(shard.lease().claim().token());
        assertThat(done.sha256()).isEqualTo(job.manifest.shards().get(0).sha256());
        assertThat(claimOnDisk().status()).isEqualTo(ClaimStatus.DONE);
        assertThat(record().status()).isEqualTo(AttemptStatus.DONE);
        assertThat(record().command())
                .containsExactly(
                        "cp",
                        job.layout.shard(job.id(0)).toString(),
                        shard.attempt().commandOutput().toString());
    }

    @Test
    void a_child_that_ends_leaves_its_slot_before_its_result_is_put_together() throws Exception {
        run();
        assertThat(slots.inUse()).isEqualTo(1);

        attempts.collect(shard, exchange);

        assertThat(slots.inUse()).isZero();
        assertThat(shard.attempt().processed()).doesNotExist();
        assertThat(claimOnDisk().status()).isEqualTo(ClaimStatus.RUNNING);
    }

    @Test
    void a_result_that_is_no_records_fails_the_attempt_when_it_is_put_together() throws Exception {
        slots.leave(token());
        claim(TestJob.in(
                Files.createDirectory(folder.resolve("bad")), 1, "sh", "-c", "echo no record > $0", "{output}"));
        run();
        attempts.collect(shard, exchange);

        AttemptFailed failure = catchThrowableOfType(AttemptFailed.class, () -> attempts.publish(shard, exchange));

        assertThat(failure.failureClass()).isEqualTo(FailureClass.DATA);
        assertThat(failure).hasMessageContaining("the result is not JSON Lines");
    }

    @Test
    void a_claim_that_is_given_back_while_it_waits_leaves_no_attempt() throws Exception {
        claimAhead();
        attempts.cut(shard, exchange);
        slots.giveBack(token(), "the job was paused");

        fail(catchThrowableOfType(GivenBack.class, () -> attempts.begin(shard, exchange)));

        assertThat(claimOnDisk().status()).isEqualTo(ClaimStatus.RELEASED);
        assertThat(claimOnDisk().reason()).isEqualTo("the job was paused");
        assertThat(shard.attempt().path()).doesNotExist();
    }

    @Test
    void a_claim_whose_lease_is_lost_while_it_waits_never_begins() throws Exception {
        claimAhead();
        attempts.cut(shard, exchange);
        new LeaseStore(job.layout.locks()).create(TestClaims.running(job.id(0).toString(), 2, "other"));
        assertThatThrownBy(shard.lease()::requireHeld).isInstanceOf(LeaseLostException.class);

        fail(catchThrowableOfType(GivenBack.class, () -> attempts.begin(shard, exchange)));

        assertThat(claimOnDisk().status()).isEqualTo(ClaimStatus.SUPERSEDED);
        assertThat(shard.attempt().path()).doesNotExist();
    }

    /** The claim gives up its slot for a place behind another. */
    private void claimAhead() {
        slots.leave(token());
        slots.assign("another", slots.take(GpuDemand.NONE).orElseThrow());
        slots.assign(token(), slots.takeAhead(GpuDemand.NONE).orElseThrow());
    }

    @ParameterizedTest
    @CsvSource({"true, the job was cancelled", "false, the job was paused"})
    void a_shard_of_a_job_that_was_stopped_since_its_claim_does_not_begin(boolean cancelled, String reason)
            throws Exception {
        JobControl control = new JobControl(job.files, new NodeIdentity("person", "h", 1), Clock.systemUTC());
        if (cancelled) {
            control.cancel();
        } else {
            control.pause();
        }

        fail(catchThrowableOfType(GivenBack.class, () -> attempts.begin(shard, exchange)));

        assertThat(claimOnDisk().status()).isEqualTo(ClaimStatus.RELEASED);
        assertThat(claimOnDisk().reason()).isEqualTo(reason);
        assertThat(slots.inUse()).isZero();
    }

    @Test
    void of_two_results_the_first_stands_and_the_second_is_recorded_as_superseded() throws Exception {
        run();
        attempts.collect(shard, exchange);
        DoneRecord first = resultOfAnother();
        job.files.publishDone(first);
        attempts.publish(shard, exchange);

        assertThat(job.files.done(job.id(0))).contains(first);
        assertThat(claimOnDisk().status()).isEqualTo(ClaimStatus.SUPERSEDED);
        assertThat(record().status()).isEqualTo(AttemptStatus.SUPERSEDED);
    }

    private DoneRecord resultOfAnother() {
        return new DoneRecord(
                job.id(0),
                "other",
                "h",
                2,
                "t",
                1,
                1,
                "x",
                "command",
                null,
                Ledger.of(1, 1, 0),
                List.of(),
                null,
                1,
                "0",
                List.of(),
                null,
                true,
                1,
                "now");
    }

    @Test
    void an_attempt_at_a_shard_that_another_has_done_is_ended_and_superseded() throws Exception {
        slots.leave(token());
        job = TestJob.in(folder.resolve("another"), 1);
        claim(
                job,
                job.manifest.with(
                        job.manifest.execution(), job.manifest.policy().speculating(true)));
        attempts.begin(shard, exchange);
        Child child = exchange.getProperty(ChildBinding.CHILD, Child.class);
        attempts.endSuperseded();
        assertThat(child.stop()).isNotDone();

        job.files.publishDone(resultOfAnother());
        attempts.endSuperseded();

        assertThat(child.stop()).isCompleted();
        fail(new AttemptStopped(child.stop().join()));
        assertThat(record().status()).isEqualTo(AttemptStatus.SUPERSEDED);
        assertThat(claimOnDisk().status()).isEqualTo(ClaimStatus.SUPERSEDED);
    }

    @Test
    void a_failure_counts_for_nothing_once_another_attempt_has_a_result() throws Exception {
        attempts.begin(shard, exchange);
        job.files.publishDone(resultOfAnother());

        fail(new AttemptFailed(FailureClass.DATA, "exit code 3"));

        assertThat(record().status()).isEqualTo(AttemptStatus.SUPERSEDED);
        assertThat(claimOnDisk().status()).isEqualTo(ClaimStatus.SUPERSEDED);
    }

    @Test
    void nothing_is_published_under_a_lost_lease() throws Exception {
        run();
        attempts.collect(shard, exchange);
        clock.passSeconds(35);

        LeaseLostException lost =
                catchThrowableOfType(LeaseLostException.class, () -> attempts.publish(shard, exchange));
        assertThat(job.files.done(job.id(0))).isEmpty();
        fail(lost);
        assertThat(record().status()).isEqualTo(AttemptStatus.LOST);
        assertThat(claimOnDisk().status()).isEqualTo(ClaimStatus.FAILED);
        assertThat(claimOnDisk().failureClass()).isEqualTo(FailureClass.INFRA);
    }

    @Test
    void nothing_is_published_where_a_higher_epoch_exists() throws Exception {
        run();
        attempts.collect(shard, exchange);
        new LeaseStore(job.layout.locks()).create(TestClaims.running(job.id(0).toString(), 2, "other"));

        LeaseLostException lost =
                catchThrowableOfType(LeaseLostException.class, () -> attempts.publish(shard, exchange));
        assertThat(job.files.done(job.id(0))).isEmpty();
        fail(lost);
        assertThat(claimOnDisk().status()).isEqualTo(ClaimStatus.SUPERSEDED);
    }

    @Test
    void a_failing_attempt_under_a_lost_lease_makes_no_terminal_failure() throws Exception {
        attempts.begin(shard, exchange);
        clock.passSeconds(35);
        fail(new AttemptFailed(FailureClass.DATA, "bad row"));

        assertThat(job.files.failed(job.id(0))).isEmpty();
        assertThat(record().status()).isEqualTo(AttemptStatus.LOST);
    }

    @Test
    void losing_the_lease_stops_the_child() throws Exception {
        attempts.begin(shard, exchange);
        Child child = exchange.getProperty(ChildBinding.CHILD, Child.class);
        assertThat(child.stop()).isNotDone();
        new LeaseStore(job.layout.locks()).create(TestClaims.running(job.id(0).toString(), 2, "other"));
        assertThatThrownBy(shard.lease()::requireHeld).isInstanceOf(LeaseLostException.class);

        assertThat(child.stop()).isCompletedWithValue("the lease is lost");
    }

    @ParameterizedTest
    @CsvSource({
        "1, DATA",
        "2, DATA",
        "125, DATA",
        "126, INFRA",
        "127, INFRA",
        "128, DATA",
        "129, INFRA",
        "137, INFRA",
        "143, INFRA",
        "192, INFRA",
        "193, DATA",
        "255, DATA"
    })
    void an_exit_code_tells_the_class_of_the_failure(int code, FailureClass expected) throws Exception {
        AttemptFailed failure = failureOf(new Child.End.Exited(code));

        assertThat(failure.failureClass()).isEqualTo(expected);
        assertThat(failure.getMessage()).contains(Integer.toString(code >= 129 && code <= 192 ? code - 128 : code));
    }

    @Test
    void a_killed_child_may_have_run_out_of_memory() throws Exception {
        assertThat(failureOf(new Child.End.Exited(137)))
                .hasMessage("killed by signal 9 (out of memory? see the kernel log)");
    }

    @Test
    void other_ends_have_classes_of_their_own() throws Exception {
        assertThat(failureOf(new Child.End.TimedOut()).failureClass()).isEqualTo(FailureClass.TIMEOUT);
        takeSlot();
        assertThat(failureOf(new Child.End.Stalled()).failureClass()).isEqualTo(FailureClass.STALLED);
        takeSlot();
        attempts.begin(shard, exchange);
        ended(new Child.End.Stopped("the node shuts down"));
        assertThatThrownBy(() -> attempts.collect(shard, exchange))
                .isInstanceOf(AttemptStopped.class)
                .hasMessage("the node shuts down");
    }

    @Test
    void a_failed_attempt_ends_its_claim_with_class_and_reason() throws Exception {
        attempts.begin(shard, exchange);
        fail(new AttemptFailed(FailureClass.STALLED, "no progress"));

        assertThat(claimOnDisk().failureClass()).isEqualTo(FailureClass.STALLED);
        assertThat(claimOnDisk().reason()).isEqualTo("no progress");
        assertThat(record().status()).isEqualTo(AttemptStatus.FAILED);
        assertThat(record().reason()).isEqualTo("no progress");
        assertThat(job.files.failed(job.id(0))).isEmpty();
    }

    @Test
    void what_is_not_the_childs_fault_is_infra() throws Exception {
        for (Exception failure : List.of(
                new IOException("disk full"),
                new ExecException("Unable to start cp", null, null, -1, null),
                new IllegalStateException("?"))) {
            attempts.begin(shard, exchange);
            fail(failure);
            assertThat(claimOnDisk().failureClass()).isEqualTo(FailureClass.INFRA);
            assertThat(claimOnDisk().reason()).contains(failure.getMessage());
            claim(job);
        }
    }

    @Test
    void a_stopped_attempt_is_preempted_and_charges_nothing() throws Exception {
        attempts.begin(shard, exchange);
        fail(new AttemptStopped("the node shuts down"));

        assertThat(claimOnDisk().status()).isEqualTo(ClaimStatus.PREEMPTED);
        assertThat(claimOnDisk().spentAfter().total()).isZero();
        assertThat(record().status()).isEqualTo(AttemptStatus.PREEMPTED);
    }

    @Test
    void the_failure_that_uses_up_a_budget_is_published() throws Exception {
        attempts.begin(shard, exchange);
        fail(new AttemptFailed(FailureClass.DATA, "first"));
        assertThat(job.files.failed(job.id(0))).isEmpty();
        claim(job);
        attempts.begin(shard, exchange);
        fail(new AttemptFailed(FailureClass.DATA, "second"));

        FailedRecord failed = job.files.failed(job.id(0)).orElseThrow();
        assertThat(failed.reason()).isEqualTo("second");
        assertThat(failed.failureClass()).isEqualTo(FailureClass.DATA);
        assertThat(failed.attempts()).isEqualTo(2);
        assertThat(failed.epoch()).isEqualTo(2);
        assertThat(job.layout.resolve(failed.attemptDir())).isDirectory();
    }

    @Test
    void each_attempt_has_a_directory_of_its_own() throws Exception {
        attempts.begin(shard, exchange);
        Path first = shard.attempt().path();
        fail(new IOException("disk full"));
        claim(job);
        attempts.begin(shard, exchange);

        assertThat(shard.attempt().path()).isNotEqualTo(first).isDirectory();
        assertThat(first).isDirectory();
    }

    @ParameterizedTest
    @CsvSource({"143, 0, PREEMPTED", "143, 300, PREEMPTED", "129, 0, PREEMPTED", "137, 0, FAILED", "143, -1, FAILED"})
    void a_child_that_is_ended_together_with_the_node_costs_no_retry(int code, int newsAfterMillis, ClaimStatus status)
            throws Exception {
        attempts.begin(shard, exchange);
        if (newsAfterMillis >= 0) {
            CompletableFuture.delayedExecutor(newsAfterMillis, TimeUnit.MILLISECONDS)
                    .execute(() -> leaving.set(true));
        }
        ended(new Child.End.Exited(code));

        Exception failure = catchThrowableOfType(Exception.class, () -> attempts.collect(shard, exchange));
        fail(failure);

        assertThat(claimOnDisk().status()).isEqualTo(status);
    }

    @Test
    void the_child_sees_the_devices_that_its_claim_was_granted_and_no_other() throws Exception {
        slots.leave(token());
        slots.assign(token(), slots.take(new GpuDemand(0.5)).orElseThrow());

        attempts.begin(shard, exchange);

        assertThat(record().gpus()).isEqualTo("0");
        assertThat(exchange.getProperty(ChildBinding.CHILD, Child.class).environment())
                .containsEntry("CUDA_VISIBLE_DEVICES", "0");
    }

    @Test
    void the_child_of_a_claim_without_devices_sees_none() throws Exception {
        attempts.begin(shard, exchange);

        assertThat(exchange.getProperty(ChildBinding.CHILD, Child.class).environment())
                .containsEntry("CUDA_VISIBLE_DEVICES", "");
    }
}
