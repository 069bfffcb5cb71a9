package dev.caravan.exec;

import dev.caravan.CaravanException;
import dev.caravan.lease.ClaimedShard;
import dev.caravan.lease.LeaseLostException;
import dev.caravan.shard.AttemptRecord;
import dev.caravan.shard.AttemptStatus;
import dev.caravan.shard.Claim;
import dev.caravan.shard.ClaimStatus;
import dev.caravan.shard.DoneRecord;
import dev.caravan.shard.Engine;
import dev.caravan.shard.Execution;
import dev.caravan.shard.FailureClass;
import dev.caravan.shard.Policy;
import dev.caravan.store.Disk;
import dev.caravan.store.Json;
import dev.caravan.store.Layout;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.apache.camel.Body;
import org.apache.camel.Exchange;
import org.apache.camel.ExchangeException;
import org.apache.camel.component.exec.ExecException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The steps of the exec route. Each attempt has a directory of its own that no other attempt writes to; only the done
 * record makes its result count.
 */
public final class Attempts {
    private static final Logger LOG = LoggerFactory.getLogger(Attempts.class);
    private static final String RUNNING = "CaravanAttempt";
    private static final String RESULT = "CaravanResult";
    private static final int SIGNALLED = 128;
    private static final int SIGNALS = 64;
    /** HUP, INT and TERM: what schedulers end a node with, often the whole tree of its processes at once. */
    private static final Set<Integer> FROM_SCHEDULERS = Set.of(1, 2, 15);
    /** Longest time until this process knows what its children know. */
    private static final Duration NEWS = Duration.ofSeconds(2);

    private final Map<Engine, EngineDriver> drivers;
    private final Gpus gpus;
    private final BooleanSupplier leaving;
    private final ShardInputs inputs;

    /**
     * @param python asked for when the first shard of engine data-juicer starts
     * @param environment of this process
     * @param slots shards at once, which share the CPUs
     * @param gpus where each claim has its devices
     * @param leaving whether the node has been told to leave
     */
    public Attempts(
            Supplier<PythonSide> python,
            Map<String, String> environment,
            int slots,
            Gpus gpus,
            BooleanSupplier leaving,
            ShardInputs inputs) {
        this.drivers = Map.of(
                Engine.DATA_JUICER, new DataJuicerDriver(python, environment, slots),
                Engine.COMMAND, new CommandDriver());
        this.gpus = gpus;
        this.leaving = leaving;
        this.inputs = inputs;
    }

    /** What {@link #begin} started and the later steps end. */
    private record Running(ShardInputs.Input input, AttemptRecord record, long beganNanos) {}

    /** Makes the attempt's directory and hands the child to be to the exec endpoint. */
    public void begin(@Body ClaimedShard shard, Exchange exchange) throws IOException {
        Gpus.Grant grant = gpus.of(shard.lease().claim().token());
        ShardInputs.Input input = inputs.take(shard);
        try {
            begin(shard, exchange, input, grant);
        } catch (IOException | RuntimeException e) {
            input.close();
            throw e;
        }
    }

    private void begin(ClaimedShard shard, Exchange exchange, ShardInputs.Input input, Gpus.Grant grant)
            throws IOException {
        Layout.Attempt attempt = shard.attempt();
        Disk.createDirectories(attempt.work());
        Disk.createDirectories(attempt.produced());
        EngineDriver.Start start = driver(shard).start(shard, input.file(), grant);
        Running running = new Running(input, record(shard, start.command(), grant), System.nanoTime());
        Disk.replace(attempt.record(), Json.bytes(running.record()));
        CompletableFuture<String> stop = new CompletableFuture<>();
        shard.lease().onLost(() -> stop.complete("the lease is lost"));
        Policy policy = shard.manifest().policy();
        exchange.setProperty(
                ChildBinding.CHILD,
                new Child(
                        start.command(),
                        attempt.work().toString(),
                        start.environment(),
                        start.cleared(),
                        attempt.log().toString(),
                        policy.attemptTimeout(),
                        policy.stallTimeout(),
                        List.of(driver(shard).result(shard).toString()),
                        start.warm(),
                        stop));
        exchange.setProperty(RUNNING, running);
        LOG.info("{}: started (log {})", shard, attempt.log());
    }

    /** Judges the child's end and puts its result together. */
    public void collect(@Body ClaimedShard shard, Exchange exchange) throws IOException {
        Child.End end = Objects.requireNonNull(exchange.getProperty(ChildBinding.END, Child.End.class));
        Policy policy = shard.manifest().policy();
        if (end instanceof Child.End.TimedOut) {
            throw new AttemptFailed(FailureClass.TIMEOUT, "ran longer than " + policy.attemptTimeout());
        } else if (end instanceof Child.End.Stalled) {
            throw new AttemptFailed(FailureClass.STALLED, "neither log nor output grew for " + policy.stallTimeout());
        } else if (end instanceof Child.End.Stopped stopped) {
            throw new AttemptStopped(stopped.reason());
        } else if (end instanceof Child.End.Exited exited && isEndedWithTheNode(exited.code())) {
            throw new AttemptStopped("ended together with the node");
        } else if (end instanceof Child.End.Exited exited && exited.code() != 0) {
            throw ended(shard, exited.code());
        }
        exchange.setProperty(
                RESULT,
                ResultFiles.assemble(
                        driver(shard).result(shard), shard.attempt().processed()));
    }

    /** Which of the two learns first is chance. */
    private boolean isEndedWithTheNode(int code) {
        if (!FROM_SCHEDULERS.contains(code - SIGNALLED)) {
            return false;
        }
        long deadline = System.nanoTime() + NEWS.toNanos();
        while (!leaving.getAsBoolean() && System.nanoTime() < deadline) {
            LockSupport.parkNanos(Duration.ofMillis(20).toNanos());
        }
        return leaving.getAsBoolean();
    }

    private AttemptFailed ended(ClaimedShard shard, int code) {
        return code > SIGNALLED && code <= SIGNALLED + SIGNALS
                ? new AttemptFailed(
                        FailureClass.INFRA,
                        "killed by signal " + (code - SIGNALLED)
                                + (code == SIGNALLED + 9 ? " (out of memory? see the kernel log)" : ""))
                : unlessMountIsToBlame(shard, driver(shard).explain(shard, code));
    }

    /** A program that met a full disk or a dead mount ends with an error as if its input were bad. */
    private static AttemptFailed unlessMountIsToBlame(ClaimedShard shard, AttemptFailed failure) {
        return failure.failureClass() != FailureClass.DATA
                ? failure
                : Disk.trouble(shard.attempt().path(), shard.shard().bytes())
                        .map(trouble -> new AttemptFailed(
                                FailureClass.INFRA, failure.getMessage() + ", and nothing can be written: " + trouble))
                        .orElse(failure);
    }

    /** Publishes the done record, unless the lease is lost; of several results of one shard the first stands. */
    public void publish(@Body ClaimedShard shard, Exchange exchange) throws IOException {
        ResultFiles.Result result = exchange.getProperty(RESULT, ResultFiles.Result.class);
        Running running = exchange.getProperty(RUNNING, Running.class);
        DoneRecord done = doneRecord(shard, result, running);
        boolean first = shard.publish(done);
        end(shard, running, first ? AttemptStatus.DONE : AttemptStatus.SUPERSEDED, null, null);
        LOG.info(
                "{}: {} ({} of {} rows, {} s)",
                shard,
                first ? "done" : "superseded, another attempt published first",
                done.rows(),
                done.rowsIn(),
                Math.round(done.seconds()));
    }

    private static DoneRecord doneRecord(ClaimedShard shard, ResultFiles.Result result, Running running) {
        Claim claim = shard.lease().claim();
        Execution execution = shard.manifest().execution();
        boolean ray = execution.engine() == Engine.DATA_JUICER;
        return new DoneRecord(
                shard.shard().id(),
                claim.node(),
                claim.hostname(),
                claim.pid(),
                claim.token(),
                claim.epoch(),
                claim.spent().total() + 1,
                shard.job().layout().relative(shard.attempt().processed()),
                ray ? "ray" : execution.engine().toString(),
                ray ? DataJuicerDriver.address(shard) : null,
                shard.shard().rows(),
                result.tally().rows(),
                result.tally().bytes(),
                result.tally().sha256(),
                result.sources(),
                shard.manifest().codeVersion(),
                (System.nanoTime() - running.beganNanos()) / 1e9,
                Instant.now().toString());
    }

    /** The error handler of the exec route: records why, and ends the claim so that the next attempt can follow. */
    public void fail(@Body ClaimedShard shard, Exchange exchange, @ExchangeException Exception failure) {
        @Nullable Running running = exchange.getProperty(RUNNING, Running.class);
        if (failure instanceof LeaseLostException || !shard.lease().isHeld()) {
            end(shard, running, AttemptStatus.LOST, null, failure.getMessage());
            shard.lease().end(ClaimStatus.SUPERSEDED, null, failure.getMessage());
        } else if (failure instanceof AttemptStopped) {
            LOG.info("{}: preempted ({}); another node goes on at once", shard, failure.getMessage());
            end(shard, running, AttemptStatus.PREEMPTED, null, failure.getMessage());
            shard.lease().end(ClaimStatus.PREEMPTED, null, failure.getMessage());
        } else {
            FailureClass failureClass =
                    failure instanceof AttemptFailed known ? known.failureClass() : FailureClass.INFRA;
            String reason = failure instanceof AttemptFailed || failure instanceof ExecException
                    ? failure.getMessage()
                    : failure.toString();
            end(shard, running, AttemptStatus.FAILED, failureClass, reason);
            failedAttempt(shard, failureClass, reason);
        }
    }

    private static void failedAttempt(ClaimedShard shard, FailureClass failureClass, String reason) {
        try {
            shard.fail(failureClass, reason)
                    .ifPresentOrElse(
                            record -> LOG.error("{}: failed for good: {}", shard, record.summary()),
                            () -> LOG.warn(
                                    "{}: attempt failed ({}): {}; retries of this class left: {}",
                                    shard,
                                    failureClass,
                                    reason,
                                    shard.retriesLeft(failureClass)));
        } catch (IOException | CaravanException e) {
            LOG.warn("{}: could not record the terminal failure ({}); the next claim does", shard, e.toString());
        }
    }

    private static AttemptRecord record(ClaimedShard shard, List<String> command, Gpus.Grant gpus) {
        Claim claim = shard.lease().claim();
        return new AttemptRecord(
                shard.shard().id(),
                claim.epoch(),
                claim.token(),
                claim.node(),
                claim.hostname(),
                claim.pid(),
                Instant.now().toString(),
                command,
                gpus.visibleDevices(),
                AttemptStatus.RUNNING,
                null,
                null,
                null);
    }

    private static void end(
            ClaimedShard shard,
            @Nullable Running running,
            AttemptStatus status,
            @Nullable FailureClass failureClass,
            @Nullable String reason) {
        if (running == null) {
            return;
        }
        running.input().close();
        try {
            Disk.replace(
                    shard.attempt().record(),
                    Json.bytes(running.record()
                            .ended(status, failureClass, reason, Instant.now().toString())));
        } catch (IOException e) {
            LOG.warn("{}: could not complete {} ({})", shard, shard.attempt().record(), e.toString());
        }
    }

    private EngineDriver driver(ClaimedShard shard) {
        return Objects.requireNonNull(drivers.get(shard.manifest().execution().engine()), "no driver for the engine");
    }
}
