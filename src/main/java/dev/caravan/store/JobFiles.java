package dev.caravan.store;

import dev.caravan.shard.ControlRecord;
import dev.caravan.shard.DoneRecord;
import dev.caravan.shard.FailedRecord;
import dev.caravan.shard.Forecast;
import dev.caravan.shard.JobOutline;
import dev.caravan.shard.Manifest;
import dev.caravan.shard.MergeRecord;
import dev.caravan.shard.ShardId;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** The facts of one job directory, typed. A fact that cannot be read is an error that names its file. */
public final class JobFiles {
    private static final String RECORD_SUFFIX = ".json";

    private final SharedDirectory shared;
    private final Layout.Job layout;

    public JobFiles(Layout.Job layout) {
        this(Disk.SHARED, layout);
    }

    public JobFiles(SharedDirectory shared, Layout.Job layout) {
        this.shared = shared;
        this.layout = layout;
    }

    public Layout.Job layout() {
        return layout;
    }

    /** The claims of the job's shards. */
    public LeaseStore locks() {
        return new LeaseStore(shared, layout.locks());
    }

    /** The claims of second attempts of shards, numbered by themselves. */
    public LeaseStore speculative() {
        return new LeaseStore(shared, layout.speculative());
    }

    /** @throws StoreException if the job is not prepared */
    public Manifest manifest() {
        return manifestIfPresent()
                .orElseThrow(() -> new StoreException("no manifest.json in " + layout.path()
                        + ": this is not a prepared job directory; run 'caravan prepare' first, or check --job-dir"));
    }

    public Optional<Manifest> manifestIfPresent() {
        return parse(shared, layout.manifest(), Manifest.class);
    }

    /** Of the manifest, if the job is prepared. */
    public Optional<JobOutline> outline() {
        return parse(shared, layout.manifest(), JobOutline.class);
    }

    public Optional<DoneRecord> done(ShardId shard) {
        return parse(shared, layout.done(shard), DoneRecord.class);
    }

    public Optional<FailedRecord> failed(ShardId shard) {
        return parse(shared, layout.failed(shard), FailedRecord.class);
    }

    /** @return whether this record is the first; the first stands */
    public boolean publishDone(DoneRecord record) throws IOException {
        return shared.publish(layout.done(record.shardId()), Json.bytes(record));
    }

    /** @return whether this record is the first; the first stands */
    public boolean publishFailed(FailedRecord record) throws IOException {
        return shared.publish(layout.failed(record.shardId()), Json.bytes(record));
    }

    public boolean isPaused() {
        return shared.exists(layout.paused());
    }

    public void pause(ControlRecord record) throws IOException {
        shared.publish(layout.paused(), Json.bytes(record));
    }

    public void resume() throws IOException {
        Disk.deleteIfPresent(layout.paused());
    }

    /** A cancelled job stays cancelled. */
    public boolean isCancelled() {
        return shared.exists(layout.cancelled());
    }

    /** The first one stands. */
    public void cancel(ControlRecord record) throws IOException {
        shared.publish(layout.cancelled(), Json.bytes(record));
    }

    public Optional<ControlRecord> cancelled() {
        return parse(shared, layout.cancelled(), ControlRecord.class);
    }

    /** Whether shards and attempts were removed, or are being. */
    public boolean isCleaned() {
        return shared.exists(layout.cleaned());
    }

    public void clean(ControlRecord record) throws IOException {
        shared.publish(layout.cleaned(), Json.bytes(record));
    }

    public Optional<Forecast> forecast() {
        return parse(shared, layout.forecast(), Forecast.class);
    }

    public void keep(Forecast forecast) throws IOException {
        Disk.createDirectories(layout.forecast().getParent());
        shared.replace(layout.forecast(), Json.bytes(forecast));
    }

    public Optional<MergeRecord> merged() {
        return parse(shared, layout.mergeRecord(), MergeRecord.class);
    }

    /** Shards that have a done record, by one listing. */
    public Set<ShardId> doneShards() throws IOException {
        return shardsNamedIn(layout.doneRecords());
    }

    /** Shards that have a terminal failure, by one listing; a shard that is also done is done. */
    public Set<ShardId> failedShards() throws IOException {
        return shardsNamedIn(layout.failedRecords());
    }

    private Set<ShardId> shardsNamedIn(Path directory) throws IOException {
        Set<ShardId> shards = new HashSet<>();
        for (String name : shared.list(directory)) {
            if (!Layout.isHidden(name) && name.endsWith(RECORD_SUFFIX)) {
                shards.add(ShardId.parse(name.substring(0, name.length() - RECORD_SUFFIX.length())));
            }
        }
        return shards;
    }

    public List<FailedRecord> failures() throws IOException {
        List<FailedRecord> records = new ArrayList<>();
        for (ShardId shard : failedShards().stream().sorted().toList()) {
            failed(shard).ifPresent(records::add);
        }
        return records;
    }

    static <T> Optional<T> parse(SharedDirectory shared, Path file, Class<T> type) {
        try {
            Optional<byte[]> content = shared.readIfPresent(file);
            return content.isEmpty() ? Optional.empty() : Optional.of(Json.parseWhole(content.get(), type));
        } catch (IOException | IllegalArgumentException e) {
            throw new StoreException("cannot read " + file + ": " + e.getMessage(), e);
        }
    }
}
