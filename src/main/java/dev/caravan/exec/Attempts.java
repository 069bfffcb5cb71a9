package dev.caravan.exec;

import dev.caravan.CaravanException;
import dev.caravan.jsonl.Tally;
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
import dev.caravan.shard.Ledger;
import dev.caravan.shard.OperatorRows;
import dev.caravan.shard.Policy;
import dev.caravan.store.Disk;
import dev.caravan.store.JobFiles;
import dev.caravan.store.Json;
import dev.caravan.store.Layout;
import dev.caravan.store.StoreException;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
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
    private static final String CANCELLED = "the job was cancelled";
    private static final String PAUSED = "the job was paused";
    private static final String LEASE_LOST = "the lease is lost";
    private static final String INPUT = "CaravanInput";
    private static final String SUPERSEDED = "another attempt published first";
    private static final String RUNNING = "CaravanAttempt";

    private final Map<Engine, EngineDriver> drivers;
    private final Slots slots;
    private final Ends ends;
    private final ShardInputs inputs;
    private final Set<Running> current = ConcurrentHashMap.newKeySet();

    /**
     * @param python asked for when the first shard that needs Python starts
     * @param environment of this process
     * @param slots where each claim has its place; they share the CPUs
     * @param leaving whether the node has been told to leave
     * @param commitEvery how much work of a shard with a checkpoint may be lost
     */
    public Attempts(
            Supplier<PythonSide> python,
            Map<String, String> environment,
            Slots slots,
            BooleanSupplier leaving,
            ShardInputs inputs,
            Duration commitEvery) {
        PythonChild pythonChild = new PythonChild(python, environment, slots.count());
        this.drivers = Map.of(
                Engine.DATA_JUICER, new DataJuicerDriver(pythonChild, commitEvery),
                Engine.COMMAND, new CommandDriver(environment),
                Engine.PLAN_EXECUTE, new ScriptDriver(pythonChild),
                Engine.MINI_BATCH, new MiniBatchDriver(pythonChild));
        this.slots = slots;
        this.ends = new Ends(leaving);
        this.inputs = inputs;
    }

    /** Ends all attempts of a job that was cancelled. May be repeated. */
    public void cancel(Layout.Job job) {
        current.stream()
                .filter(attempt -> attempt.trial().shard().job().layout().equals(job))
                .forEach(attempt -> attempt.stop().complete(CANCELLED));
    }

    /** Ends attempts at shards of which the result of another attempt stands. May be repeated. */
    public void endSuperseded() {
        current.stream()
                .filter(attempt -> {
                    ClaimedShard shard = attempt.trial().shard();
                    return shard.manifest().policy().speculates() && shard.isDoneElsewhere();
                })
                .forEach(attempt -> attempt.stop().complete(SUPERSEDED));
    }

    /** Cuts the shard's input out, while another shard may still be in its slot. */
    public void cut(@Body ClaimedShard shard, Exchange exchange) throws IOException {
        shard.lease().onLost(() -> slots.giveBack(token(shard), LEASE_LOST));
        if (inputs.haveRoomFor(shard)) {
            input(shard, exchange);
        }
    }

    private ShardInputs.Input input(ClaimedShard shard, Exchange exchange) throws IOException {
        ShardInputs.Input input = exchange.getProperty(INPUT, ShardInputs.Input.class);
        if (input == null) {
            input = inputs.take(shard, () -> slots.requireWanted(token(shard)));
            exchange.setProperty(INPUT, input);
        }
        return input;
    }

    /** Waits for the shard's slot, makes the attempt's directory and hands the child to be to the exec endpoint. */
    public void begin(@Body ClaimedShard shard, Exchange exchange) throws IOException {
        Gpus.Grant grant = slots.await(token(shard));
        requireGoing(shard.job());
        if (shard.manifest().policy().speculates() && shard.isDoneElsewhere()) {
            throw new AttemptStopped(SUPERSEDED);
        }
        Layout.Attempt attempt = shard.attempt();
        Disk.createDirectories(attempt.work());
        Disk.createDirectories(attempt.produced());
        Trial whole = Trial.ofWhole(shard, input(shard, exchange).file());
        EngineDriver.Start start = driver(shard).start(whole, grant);
        Running running = new Running(grant, record(shard, start.command(), grant), System.nanoTime(), whole);
        Disk.replace(attempt.record(), Json.bytes(running.record()));
        shard.lease().onLost(() -> running.stop().complete(LEASE_LOST));
        exchange.setProperty(ChildBinding.CHILD, child(start, running));
        exchange.setProperty(RUNNING, running);
        current.add(running);
        LOG.info("{}: started (log {})", shard, attempt.log());
    }

    /** It may have waited for long since it was claimed. */
    private static void requireGoing(JobFiles job) {
        if (job.isCancelled() || job.isPaused()) {
            throw new GivenBack(job.isCancelled() ? CANCELLED : PAUSED);
        }
    }

    /** The next shard may use the slot: what is left to be done needs neither devices nor input. */
    private void leaveSlot(ClaimedShard shard, Exchange exchange) {
        slots.leave(token(shard));
        if (exchange.removeProperty(INPUT) instanceof ShardInputs.Input input) {
            input.close();
        }
    }

    private static String token(ClaimedShard shard) {
        return shard.lease().claim().token();
    }

    /** Every child of an attempt has the attempt's log and working directory. */
    private Child child(EngineDriver.Start start, Running running) {
        ClaimedShard shard = running.trial().shard();
        Policy policy = shard.manifest().policy();
        return new Child(
                start.command(),
                shard.attempt().work().toString(),
                start.environment(),
                start.cleared(),
                shard.attempt().log().toString(),
                policy.attemptTimeout(),
                policy.stallTimeout(),
                List.of(driver(shard).result(running.trial()).toString()),
                start.warm(),
                running.stop());
    }

    /** Judges the child's end: the attempt needs another child, or leaves its slot, with a result or without. */
    public void collect(@Body ClaimedShard shard, Exchange exchange) throws IOException {
        Running running = Objects.requireNonNull(exchange.getProperty(RUNNING, Running.class));
        Child.End end = Objects.requireNonNull(exchange.getProperty(ChildBinding.END, Child.End.class));
        exchange.removeProperty(ChildBinding.CHILD);
        Optional<Trial> next = Optional.empty();
        try {
            next = running.after(failure(end, running));
            if (next.isPresent()) {
                EngineDriver.Start start = driver(shard).start(next.get(), running.gpus());
                exchange.setProperty(ChildBinding.CHILD, child(start, running));
            }
        } finally {
            if (next.isEmpty()) {
                leaveSlot(shard, exchange);
            }
        }
    }

    /** A result that is no records is a failure of its own, which those who look for the records to blame must know. */
    private @Nullable AttemptFailed failure(Child.End end, Running running) throws IOException {
        try {
            ends.judge(end, running.trial(), driver(running.trial().shard()));
            if (running.isIsolating()) {
                assemble(running);
            }
            return null;
        } catch (AttemptFailed e) {
            return e;
        }
    }

    private ResultFiles.Result assemble(Running running) throws IOException {
        Trial trial = running.trial();
        return ResultFiles.assemble(driver(trial.shard()).result(trial), trial.processed());
    }

    /**
     * Puts the result together and publishes the done record, unless the lease is lost; of several results of one shard
     * the first stands.
     */
    public void publish(@Body ClaimedShard shard, Exchange exchange) throws IOException {
        Running running = exchange.getProperty(RUNNING, Running.class);
        DoneRecord done = doneRecord(shard, assemble(running), running);
        done.ledger().imbalance().ifPresent(trouble -> {
            throw new AttemptFailed(FailureClass.DATA, "the rows do not add up: " + trouble);
        });
        boolean first = shard.publish(done);
        end(shard, running, first ? AttemptStatus.DONE : AttemptStatus.SUPERSEDED, null, null);
        LOG.info(
                "{}: {} ({}, {} s)",
                shard,
                first ? "done" : "superseded, another attempt published first",
                done.ledger(),
                Math.round(done.seconds()));
    }

    private DoneRecord doneRecord(ClaimedShard shard, ResultFiles.Result result, Running running) throws IOException {
        Claim claim = shard.lease().claim();
        Execution execution = shard.manifest().execution();
        boolean ray = execution.engine() == Engine.DATA_JUICER;
        List<OperatorRows> operators = driver(shard).operators(running.trial());
        Optional<Tally> failed = FailedRows.of(shard);
        return new DoneRecord(
                shard.shard().id(),
                claim.node(),
                claim.hostname(),
                claim.pid(),
                claim.token(),
                claim.epochOfShard(),
                claim.spent().total() + 1,
                shard.job().layout().relative(shard.attempt().processed()),
                ray ? "ray" : execution.engine().toString(),
                ray ? PythonChild.address(shard) : null,
                Ledger.of(
                        shard.shard().rows(),
                        result.tally().rows(),
                        failed.map(Tally::rows).orElse(0L),
                        driver(shard).operatorsTellOfRows() ? operators : List.of()),
                operators,
                failed.map(tally -> FailedRows.failures(shard, tally)).orElse(null),
                result.tally().bytes(),
                result.tally().sha256(),
                result.sources(),
                shard.manifest().codeVersion(),
                claim.isSpeculative(),
                (System.nanoTime() - running.beganNanos()) / 1e9,
                Instant.now().toString());
    }

    /** The error handler of the exec route: records why, and ends the claim so that the next attempt can follow. */
    public void fail(@Body ClaimedShard shard, Exchange exchange, @ExchangeException Exception failure) {
        @Nullable Running running = exchange.getProperty(RUNNING, Running.class);
        leaveSlot(shard, exchange);
        if (failure instanceof LeaseLostException || !shard.lease().isHeld()) {
            end(shard, running, AttemptStatus.LOST, null, failure.getMessage());
            shard.lease().end(ClaimStatus.SUPERSEDED, null, failure.getMessage());
        } else if (failure instanceof GivenBack) {
            LOG.info("{}: given back before it began ({})", shard, failure.getMessage());
            shard.lease().end(ClaimStatus.RELEASED, null, failure.getMessage());
        } else if (isDoneElsewhere(shard)) {
            LOG.info("{}: ended, since {}", shard, SUPERSEDED);
            end(shard, running, AttemptStatus.SUPERSEDED, null, SUPERSEDED);
            shard.supersede();
        } else if (failure instanceof AttemptStopped && CANCELLED.equals(failure.getMessage())) {
            LOG.info("{}: ended, since the job was cancelled", shard);
            end(shard, running, AttemptStatus.CANCELLED, null, CANCELLED);
            shard.lease().end(ClaimStatus.RELEASED, null, CANCELLED);
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
            boolean forGood = failure instanceof AttemptFailed known && known.isForGood();
            failedAttempt(shard, failureClass, reason, forGood);
        }
    }

    private static boolean isDoneElsewhere(ClaimedShard shard) {
        try {
            return shard.isDoneElsewhere();
        } catch (StoreException unknown) {
            return false;
        }
    }

    private static void failedAttempt(ClaimedShard shard, FailureClass failureClass, String reason, boolean forGood) {
        try {
            shard.fail(failureClass, reason, forGood)
                    .ifPresentOrElse(
                            record -> LOG.error("{}: failed for good: {}", shard, record.summary()),
                            () -> LOG.warn(
                                    "{}: attempt failed ({}): {}; {}",
                                    shard,
                                    failureClass,
                                    reason,
                                    shard.lease().claim().isSpeculative()
                                            ? "the first attempt goes on"
                                            : "retries of this class left: " + shard.retriesLeft(failureClass)));
        } catch (IOException | CaravanException e) {
            LOG.warn("{}: could not record the terminal failure ({}); the next claim does", shard, e.toString());
        }
    }

    private static AttemptRecord record(ClaimedShard shard, List<String> command, Gpus.Grant gpus) {
        Claim claim = shard.lease().claim();
        return new AttemptRecord(
                shard.shard().id(),
                claim.epochOfShard(),
                claim.isSpeculative(),
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

    private void end(
            ClaimedShard shard,
            @Nullable Running ended,
            AttemptStatus status,
            @Nullable FailureClass failureClass,
            @Nullable String reason) {
        if (ended == null) {
            return;
        }
        current.remove(ended);
        try {
            Disk.replace(
                    shard.attempt().record(),
                    Json.bytes(ended.record()
                            .ended(status, failureClass, reason, Instant.now().toString())));
        } catch (IOException e) {
            LOG.warn("{}: could not complete {} ({})", shard, shard.attempt().record(), e.toString());
        }
    }

    private EngineDriver driver(ClaimedShard shard) {
        return Objects.requireNonNull(drivers.get(shard.manifest().execution().engine()), "no driver for the engine");
    }
}
