package dev.caravan.store;

import dev.caravan.shard.OutputForm;
import dev.caravan.shard.ShardId;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Every name in the shared directory. Nothing else in the program spells one. */
public final class Layout {
    private static final String START_CHECK = ".tmp-check-";

    private Layout() {}

    /** Names that are not finished work: listings skip them. */
    public static boolean isHidden(String name) {
        return name.startsWith(".");
    }

    static final String LOCK_SUFFIX = ".lock";

    public static String lockName(String key, long epoch) {
        return key + "." + epoch + LOCK_SUFFIX;
    }

    /** A file that has not got its name yet, or never will. */
    public static boolean isTemporary(String name) {
        return name.startsWith(Disk.TEMPORARY);
    }

    /** The shared root: inbox, jobs and nodes. */
    public record Root(Path path) {
        public Root {
            path = path.toAbsolutePath().normalize();
        }

        public Path inbox() {
            return path.resolve("inbox");
        }

        public Path accepted() {
            return inbox().resolve(".accepted");
        }

        public Path rejected() {
            return inbox().resolve(".rejected");
        }

        /** The explanation beside a rejected descriptor. */
        public Path errorOf(Path rejected) {
            return rejected.resolveSibling(rejected.getFileName() + ".error.txt");
        }

        public Path jobs() {
            return path.resolve("jobs");
        }

        public Job job(String name) {
            return new Job(jobs().resolve(name));
        }

        public Path nodes() {
            return path.resolve("nodes");
        }

        public Path node(String nodeId) {
            return nodes().resolve(nodeId + ".json");
        }

        /** There if the node is to leave; hidden, since it is not a node. */
        public Path drain(String nodeId) {
            return nodes().resolve("." + nodeId + ".drain");
        }

        public Doctor doctor() {
            return new Doctor(path.resolve("doctor"));
        }
    }

    /** What {@code caravan doctor} measured on the mount of a root, and its scratch space while it measures. */
    public record Doctor(Path path) {
        private static final String RESULT_SUFFIX = ".json";

        public Path result(String node) {
            return path.resolve(node + RESULT_SUFFIX);
        }

        public static boolean isResult(String name) {
            return !isHidden(name) && name.endsWith(RESULT_SUFFIX);
        }

        /** Where doctors that run at the same time meet. */
        public Path meeting() {
            return path.resolve(".meeting");
        }

        public Path member(String id) {
            return meeting().resolve(id + RESULT_SUFFIX);
        }

        /** Where the doctors of one meeting measure. */
        public Path session(String id) {
            return path.resolve(".session-" + id);
        }
    }

    /** A shard's results in an output of parts. */
    public static Path part(Path output, ShardId shard) {
        return output.resolve(shard + ".jsonl");
    }

    /** What the parts of an output are. */
    public static Path index(Path output) {
        return output.resolve("index.json");
    }

    /** Scratch space of the short check at the start of a node. */
    public static Path startCheck(Path directory, String unique) {
        return directory.resolve(START_CHECK + unique);
    }

    /** Where the results of plan-execute are collected over many runs. */
    public record Sink(Path path) {
        public Sink {
            path = path.toAbsolutePath().normalize();
        }

        public Path ready() {
            return path.resolve("ready.ndjson");
        }

        public Path failures() {
            return path.resolve("failures.ndjson");
        }

        /** Job directories of the runs that were started by a command. */
        public Path runs() {
            return path.resolve("runs");
        }

        public Job run(String id) {
            return new Job(runs().resolve(id));
        }
    }

    /** A job directory and the hidden coordination directory beside it. */
    public record Job(Path path) {
        private static final String COORDINATION_SUFFIX = ".coordination";
        private static final String SPECULATIVE = "speculative-";

        public Job {
            path = path.toAbsolutePath().normalize();
        }

        /** The root under which the job lies, if it lies under one. */
        public Optional<Root> root() {
            Path parent = path.getParent();
            Path above = parent == null ? null : parent.getParent();
            return above == null || !new Root(above).jobs().equals(parent)
                    ? Optional.empty()
                    : Optional.of(new Root(above));
        }

        public String name() {
            return path.getFileName().toString();
        }

        public Path manifest() {
            return path.resolve("manifest.json");
        }

        public Path recipe() {
            return path.resolve("recipe.yaml");
        }

        /** The files of the job's script. */
        public Path script() {
            return path.resolve("script");
        }

        /** What a script that says what is to be done has said: the input of the job. */
        public Path plan() {
            return path.resolve("plan.jsonl");
        }

        /** What the script was asked. */
        public Path planRequest() {
            return path.resolve("plan-request.json");
        }

        /** How many items the script has named, and what became of those that are not in the plan. */
        public Path planCounts() {
            return path.resolve("plan-counts.json");
        }

        /** What of the job is to be collected in its sink. */
        public Path sinkRequest() {
            return path.resolve("sink-request.json");
        }

        /** What has become of each item, in the order of the plan. */
        public Path sinkRows() {
            return path.resolve("rows.ndjson");
        }

        /** What the processes of scripts log. */
        public Path logs() {
            return path.resolve("logs");
        }

        /** How the job ended, for people. */
        public Path jobResult() {
            return logs().resolve("job_result.txt");
        }

        /** Where a script may put files of its own. */
        public Path scriptOutput() {
            return path.resolve("output");
        }

        public Path shards() {
            return path.resolve("shards");
        }

        public Path shard(ShardId shard) {
            return shards().resolve(shard + ".jsonl");
        }

        public Path quarantine() {
            return path.resolve("quarantine");
        }

        /** What was set aside, and why. */
        public Path quarantinedRecords() {
            return quarantine().resolve("records.jsonl");
        }

        /** The lines that were set aside. */
        public Path quarantinedLines() {
            return quarantine().resolve("lines.txt");
        }

        /** The repaired lines that this job was made of, in place of the quarantined ones of another. */
        public Path repairedLines() {
            return quarantine().resolve("repaired.txt");
        }

        public Path cache() {
            return path.resolve("cache");
        }

        public Path attempts() {
            return path.resolve("attempts");
        }

        public Path attempts(ShardId shard) {
            return attempts().resolve(shard.toString());
        }

        public Attempt attempt(ShardId shard, long epoch, String token) {
            return new Attempt(attempts(shard).resolve("%04d-%s".formatted(epoch, token)));
        }

        /** Commit logs of shards: what is done of them for good before they are. */
        public Path checkpoints() {
            return path.resolve("checkpoints");
        }

        public Path checkpoints(ShardId shard) {
            return checkpoints().resolve(shard.toString());
        }

        /** Of a second attempt beside an epoch. */
        public Attempt speculativeAttempt(ShardId shard, long epoch, String token) {
            return attempt(shard, epoch, SPECULATIVE + token);
        }

        /** The token that is in the name of a second attempt's directory, null in any other. */
        public static @Nullable String tokenOfSpeculative(String afterEpoch) {
            return afterEpoch.startsWith(SPECULATIVE) ? afterEpoch.substring(SPECULATIVE.length()) : null;
        }

        public Path state() {
            return path.resolve("state");
        }

        public Path locks() {
            return state().resolve("locks");
        }

        /** Claims of second attempts, which stand beside those in {@link #locks}. */
        public Path speculative() {
            return state().resolve("speculative");
        }

        /** The claim of a key (a shard's id) in one epoch. */
        public Path lock(String key, long epoch) {
            return locks().resolve(lockName(key, epoch));
        }

        public Path doneRecords() {
            return state().resolve("done");
        }

        public Path done(ShardId shard) {
            return doneRecords().resolve(shard + ".json");
        }

        public Path failedRecords() {
            return state().resolve("failed");
        }

        public Path failed(ShardId shard) {
            return failedRecords().resolve(shard + ".json");
        }

        public Path history() {
            return state().resolve("history");
        }

        /** There while the job is paused. */
        public Path paused() {
            return state().resolve("paused.json");
        }

        /** There once the job is cancelled; never removed. */
        public Path cancelled() {
            return state().resolve("cancelled.json");
        }

        /** There once the shards and attempts of an ended job were removed. */
        public Path cleaned() {
            return state().resolve("cleaned.json");
        }

        /** For people, once the job has ended. */
        public Path report() {
            return path.resolve("report.html");
        }

        /** Where the record of a terminal failure goes when the shard is retried. */
        public Path history(ShardId shard, long epoch) {
            return history().resolve(shard + "." + epoch + ".failed.json");
        }

        /** Where repairs move what they take out of the way, in the order of the repairs. */
        public Path repaired(int number) {
            return history().resolve("doctor-" + number);
        }

        public Path mergedByDefault() {
            return path.resolve("merged.jsonl");
        }

        public Path outputByDefault(OutputForm form) {
            return form == OutputForm.PARTS ? path.resolve("merged") : mergedByDefault();
        }

        public Path mergeRecord() {
            return path.resolve("merge.json");
        }

        /** Where prepare builds the job before it gets its name. */
        public Path stage(String unique) {
            return path.resolveSibling("." + name() + ".preparing." + unique);
        }

        public boolean isStage(String siblingName) {
            return siblingName.startsWith("." + name() + ".preparing.");
        }

        /** Of a plan that was made for this job, perhaps before it was there. */
        public Path forecast() {
            return path.resolveSibling("." + name() + ".forecast.json");
        }

        public Path coordination() {
            return path.resolveSibling("." + name() + COORDINATION_SUFFIX);
        }

        public Generation generation(String id) {
            return new Generation(coordination().resolve(id));
        }

        /** The job of a coordination directory's name, or null for any other name. */
        public static @Nullable String ofCoordination(String siblingName) {
            return siblingName.startsWith(".") && siblingName.endsWith(COORDINATION_SUFFIX)
                    ? siblingName.substring(1, siblingName.length() - COORDINATION_SUFFIX.length())
                    : null;
        }

        /** A path of this job as the manifest holds it. */
        public String relative(Path inside) {
            return path.relativize(inside).toString();
        }

        /** The opposite of {@link #relative}; a manifest that points outside the job is refused. */
        public Path resolve(String relative) {
            Path resolved = path.resolve(relative).normalize();
            if (!resolved.startsWith(path)) {
                throw new StoreException("Manifest path escapes job directory: '" + relative + "' in " + manifest()
                        + "; the manifest was changed by hand: prepare the job again in a new directory");
            }
            return resolved;
        }
    }

    /** One run of the roles prepare and finalize. A new run of the same job directory is a new generation. */
    public record Generation(Path path) {
        public Path descriptor() {
            return path.resolve("job.json");
        }

        public Path prepareResult() {
            return path.resolve("prepare-result.json");
        }

        public Path finalizeResult() {
            return path.resolve("finalize-result.json");
        }

        public Path abort() {
            return path.resolve("abort.json");
        }
    }

    /** The isolated directory of one attempt. */
    public record Attempt(Path path) {
        public Path record() {
            return path.resolve("attempt.json");
        }

        public Path log() {
            return path.resolve("process.log");
        }

        public Path request() {
            return path.resolve("request.json");
        }

        public Path outcome() {
            return path.resolve("outcome.json");
        }

        public Path rayOutput() {
            return path.resolve("ray-output.jsonl");
        }

        public Path commandOutput() {
            return path.resolve("output.jsonl");
        }

        public Path processed() {
            return path.resolve("processed.jsonl");
        }

        /** Of the run of the engine over some of the shard's records. */
        public Attempt trial(int number) {
            return new Attempt(path.resolve("trials").resolve("%04d".formatted(number)));
        }

        /** Of a trial: its records. */
        public Path input() {
            return path.resolve("input.jsonl");
        }

        /** The records that the engine fails on, one JSON object a line. */
        public Path failedRecords() {
            return path.resolve("failed-records.jsonl");
        }

        public Path produced() {
            return path.resolve("produced");
        }

        public Path work() {
            return path.resolve("work");
        }
    }
}
