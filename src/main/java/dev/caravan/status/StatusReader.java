package dev.caravan.status;

import dev.caravan.shard.Claim;
import dev.caravan.shard.ClaimStatus;
import dev.caravan.shard.DoneRecord;
import dev.caravan.shard.FailedRecord;
import dev.caravan.shard.Forecast;
import dev.caravan.shard.JobOutline;
import dev.caravan.shard.Ledger;
import dev.caravan.shard.MergeRecord;
import dev.caravan.shard.RoleResult;
import dev.caravan.shard.ShardId;
import dev.caravan.status.JobStatus.ShardLine;
import dev.caravan.status.JobStatus.ShardState;
import dev.caravan.status.JobStatus.State;
import dev.caravan.store.Disk;
import dev.caravan.store.GenerationFiles;
import dev.caravan.store.JobFiles;
import dev.caravan.store.Layout;
import dev.caravan.store.LeaseStore;
import dev.caravan.store.StoreException;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** Reads the state of one job. Reading again costs only what is new. Not thread-safe. */
public final class StatusReader {
    private static final Duration PACE_WINDOW = Duration.ofMinutes(10);

    private final JobFiles files;
    private final LeaseStore locks;
    private final Duration staleAfter;
    private final Map<ShardId, DoneRecord> done = new HashMap<>();
    private @Nullable JobOutline outline;

    /** @param staleAfter age of a claim's last beat from which it is shown as stale */
    public StatusReader(Layout.Job layout, Duration staleAfter) {
        this.files = new JobFiles(layout);
        this.locks = files.locks();
        this.staleAfter = staleAfter;
    }

    /** @throws StoreException if there is neither a prepared job nor one on its way */
    public JobStatus read() throws IOException {
        List<GenerationFiles> generations = generations();
        if (outline == null) {
            outline = files.outline().orElse(null);
        }
        return outline == null ? unprepared(generations) : prepared(outline, generations);
    }

    private List<GenerationFiles> generations() throws IOException {
        List<GenerationFiles> generations = new ArrayList<>();
        for (String id : Disk.list(files.layout().coordination())) {
            generations.add(new GenerationFiles(files.layout().generation(id)));
        }
        return generations;
    }

    private JobStatus unprepared(List<GenerationFiles> generations) throws IOException {
        if (generations.isEmpty()) {
            files.manifest(); // says what is missing
        }
        String error = null;
        boolean open = false;
        for (GenerationFiles generation : generations) {
            Optional<RoleResult> result = generation.prepareResult();
            open |= result.isEmpty() && generation.descriptor().isPresent();
            error = result.map(RoleResult::error).orElse(error);
        }
        return new JobStatus(
                files.layout().name(),
                files.layout().path().toString(),
                open || error == null ? State.PREPARING : State.FAILED,
                new JobStatus.ShardCounts(0, 0, 0, 0, 0, 0),
                JobStatus.RowCounts.of(0, Ledger.EMPTY, 0),
                List.of(),
                List.of(),
                open ? null : error,
                null,
                null,
                null,
                null,
                List.of());
    }

    private JobStatus prepared(JobOutline job, List<GenerationFiles> generations) throws IOException {
        for (ShardId shard : files.doneShards()) {
            if (!done.containsKey(shard)) {
                files.done(shard).ifPresent(record -> done.put(shard, record));
            }
        }
        Map<ShardId, FailedRecord> failed = new HashMap<>();
        for (FailedRecord record : files.failures()) {
            if (!done.containsKey(record.shardId())) {
                failed.put(record.shardId(), record);
            }
        }
        List<ShardLine> lines = lines(job, failed);
        Optional<MergeRecord> merged = files.merged();
        String error = merged.isPresent() ? null : finalizeError(generations);
        State state = state(lines, merged.isPresent(), error);
        JobStatus.RowCounts rows = rows(job);
        return new JobStatus(
                job.jobId(),
                files.layout().path().toString(),
                state,
                counts(lines),
                rows,
                nodes(lines),
                failed.values().stream()
                        .sorted(Comparator.comparing(FailedRecord::shardId))
                        .toList(),
                error,
                merged.map(MergeRecord::output).orElse(job.output()),
                merged.map(MergeRecord::sha256).orElse(null),
                state == State.RUNNING ? pace(rows) : null,
                files.forecast().map(this::plan).orElse(null),
                lines);
    }

    /** Of the results so far; read {@link #read} first. */
    public Collection<DoneRecord> done() {
        return List.copyOf(done.values());
    }

    /** Over the last minutes, by the clocks of the nodes that finished something. */
    private JobStatus.@Nullable Pace pace(JobStatus.RowCounts rows) {
        double now = System.currentTimeMillis() / 1000.0;
        double first = now;
        for (DoneRecord record : done.values()) {
            first = Math.min(first, finished(record) - record.seconds());
        }
        double from = Math.max(first, now - PACE_WINDOW.toSeconds());
        long lately = 0;
        for (DoneRecord record : done.values()) {
            lately += finished(record) > from ? record.rowsIn() : 0;
        }
        double rate = lately / Math.max(1, now - from);
        return lately == 0 ? null : new JobStatus.Pace(rate, Math.round((rows.total() - rows.done()) / rate));
    }

    private JobStatus.Plan plan(Forecast forecast) {
        double first = Double.MAX_VALUE;
        double last = 0;
        long bytes = 0;
        for (DoneRecord record : done.values()) {
            first = Math.min(first, finished(record) - record.seconds());
            last = Math.max(last, finished(record));
            bytes += record.sizeBytes();
        }
        return new JobStatus.Plan(
                forecast.seconds(),
                forecast.fewestSeconds(),
                forecast.mostSeconds(),
                Math.max(0, last - first),
                forecast.resultBytes(),
                bytes);
    }

    private static double finished(DoneRecord record) {
        return Instant.parse(record.finishedAt()).toEpochMilli() / 1000.0;
    }

    private static @Nullable String finalizeError(List<GenerationFiles> generations) {
        return generations.stream()
                .map(GenerationFiles::finalizeResult)
                .flatMap(Optional::stream)
                .max(Comparator.comparing(RoleResult::endedAt))
                .map(RoleResult::error)
                .orElse(null);
    }

    private List<ShardLine> lines(JobOutline job, Map<ShardId, FailedRecord> failed) throws IOException {
        Map<String, Long> epochs = locks.highestEpochs();
        Map<String, Long> speculative = files.speculative().highestEpochs();
        List<ShardLine> lines = new ArrayList<>();
        for (JobOutline.Shard shard : job.shards()) {
            ShardId id = shard.id();
            DoneRecord result = done.get(id);
            FailedRecord failure = failed.get(id);
            if (result != null) {
                lines.add(new ShardLine(id, ShardState.DONE, shard.rows(), result.node(), note(result)));
            } else if (failure != null) {
                lines.add(new ShardLine(id, ShardState.FAILED, shard.rows(), failure.node(), failure.summary()));
            } else {
                ShardLine line = openLine(shard, epochOf(shard, epochs));
                long second = epochOf(shard, speculative);
                lines.add(second == 0 ? line : withSecond(line, second));
            }
        }
        return lines;
    }

    /** 0 for a shard without a claim; where there are none at all, no shard needs to be named. */
    private static long epochOf(JobOutline.Shard shard, Map<String, Long> epochs) {
        return epochs.isEmpty() ? 0 : epochs.getOrDefault(shard.id().toString(), 0L);
    }

    private static String note(DoneRecord result) {
        DoneRecord.@Nullable Failures failures = result.failures();
        return result.rows() + " rows out"
                + (result.speculative() ? " of a speculative attempt" : "")
                + (failures == null ? "" : ", " + result.ledger().failed() + " failed: " + failures.path());
    }

    private ShardLine openLine(JobOutline.Shard shard, long epoch) throws IOException {
        Optional<LeaseStore.Sight> sight =
                epoch == 0 ? Optional.empty() : locks.look(shard.id().toString(), epoch);
        Optional<Claim> claim = sight.flatMap(LeaseStore.Sight::claim);
        if (claim.isEmpty()) {
            return new ShardLine(shard.id(), ShardState.PENDING, shard.rows(), null, null);
        }
        if (claim.get().status() != ClaimStatus.RUNNING) {
            String note = claim.get().reason() == null
                    ? null
                    : "last attempt: " + claim.get().reason();
            return new ShardLine(shard.id(), ShardState.PENDING, shard.rows(), null, note);
        }
        long age = System.currentTimeMillis() - sight.get().beat().toMillis();
        ShardState state = age > staleAfter.toMillis() ? ShardState.STALE : ShardState.RUNNING;
        String note = "epoch " + epoch + ", last beat " + Math.max(0, age) / 1000 + " s ago";
        return new ShardLine(shard.id(), state, shard.rows(), claim.get().node(), note);
    }

    /** Says which node makes a second attempt, if one does. */
    private ShardLine withSecond(ShardLine line, long number) throws IOException {
        return files.speculative()
                .look(line.id().toString(), number)
                .flatMap(LeaseStore.Sight::claim)
                .filter(claim -> claim.status() == ClaimStatus.RUNNING)
                .map(claim -> new ShardLine(
                        line.id(),
                        line.state(),
                        line.rows(),
                        line.node(),
                        (line.note() == null ? "" : line.note() + "; ") + "speculative attempt on " + claim.node()))
                .orElse(line);
    }

    private static JobStatus.ShardCounts counts(List<ShardLine> lines) {
        int[] by = new int[ShardState.values().length];
        lines.forEach(line -> by[line.state().ordinal()]++);
        return new JobStatus.ShardCounts(
                lines.size(),
                by[ShardState.PENDING.ordinal()],
                by[ShardState.RUNNING.ordinal()],
                by[ShardState.STALE.ordinal()],
                by[ShardState.DONE.ordinal()],
                by[ShardState.FAILED.ordinal()]);
    }

    private State state(List<ShardLine> lines, boolean merged, @Nullable String error) {
        Set<ShardState> states = new HashSet<>();
        lines.forEach(line -> states.add(line.state()));
        if (merged) {
            return State.DONE;
        }
        if (files.isCancelled()) {
            return State.CANCELLED;
        }
        boolean settled = !states.contains(ShardState.PENDING)
                && !states.contains(ShardState.RUNNING)
                && !states.contains(ShardState.STALE);
        if (!settled) {
            return files.isPaused() ? State.PAUSED : State.RUNNING;
        }
        if (states.contains(ShardState.FAILED) || error != null) {
            return State.FAILED;
        }
        return files.isPaused() ? State.PAUSED : State.FINALIZING;
    }

    private JobStatus.RowCounts rows(JobOutline job) {
        Ledger finished = done.values().stream().map(DoneRecord::ledger).reduce(Ledger.EMPTY, Ledger::plus);
        return JobStatus.RowCounts.of(job.totalRows(), finished, job.quarantined());
    }

    private List<JobStatus.NodeShare> nodes(List<ShardLine> lines) {
        Map<String, Integer> finished = new HashMap<>();
        Map<String, Integer> running = new HashMap<>();
        Map<String, String> hostnames = new HashMap<>();
        done.values().forEach(record -> hostnames.put(record.node(), record.hostname()));
        for (ShardLine line : lines) {
            if (line.state() == ShardState.DONE) {
                finished.merge(Objects.requireNonNull(line.node()), 1, Integer::sum);
            } else if (line.state() == ShardState.RUNNING || line.state() == ShardState.STALE) {
                running.merge(Objects.requireNonNull(line.node()), 1, Integer::sum);
            }
        }
        Set<String> names = new TreeSet<>(finished.keySet());
        names.addAll(running.keySet());
        return names.stream()
                .map(node -> new JobStatus.NodeShare(
                        node,
                        hostnames.getOrDefault(node, ""),
                        finished.getOrDefault(node, 0),
                        running.getOrDefault(node, 0)))
                .toList();
    }
}
