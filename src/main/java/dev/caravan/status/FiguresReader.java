package dev.caravan.status;

import dev.caravan.shard.Claim;
import dev.caravan.shard.ClaimStatus;
import dev.caravan.shard.DoneRecord;
import dev.caravan.shard.FailureClass;
import dev.caravan.shard.ShardId;
import dev.caravan.status.JobFigures.ErrorClass;
import dev.caravan.status.JobFigures.Example;
import dev.caravan.status.JobFigures.Span;
import dev.caravan.status.JobFigures.Stretch;
import dev.caravan.store.JobFiles;
import dev.caravan.store.LeaseStore;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

/** Puts a job's figures together from its done records and claims. */
public final class FiguresReader {
    private static final int MOST_STRETCHES = 60;
    private static final int SHOWN = 10;

    /** Shards whose earlier claims are read: a job where more fail has the same errors again and again. */
    private static final int MOST_RETRIED = 500;

    private FiguresReader() {}

    public static JobFigures of(JobFiles job, Collection<DoneRecord> done) throws IOException {
        List<Span> spans = done.stream()
                .map(FiguresReader::span)
                .sorted(Comparator.comparingLong(Span::from).thenComparing(Span::shard))
                .toList();
        List<Span> slowest = spans.stream()
                .sorted(Comparator.comparingDouble(Span::seconds).reversed())
                .limit(SHOWN)
                .toList();
        return new JobFigures(throughput(spans), slowest, errors(job), spans);
    }

    /** Reads all done records itself. */
    public static JobFigures of(JobFiles job) throws IOException {
        List<DoneRecord> done = new ArrayList<>();
        for (ShardId shard : job.doneShards()) {
            job.done(shard).ifPresent(done::add);
        }
        return of(job, done);
    }

    private static Span span(DoneRecord record) {
        long end = Instant.parse(record.finishedAt()).toEpochMilli();
        return new Span(
                record.shardId(),
                record.node(),
                end - Math.round(record.seconds() * 1000),
                record.seconds(),
                record.rowsIn(),
                record.speculative());
    }

    static List<Stretch> throughput(List<Span> spans) {
        if (spans.isEmpty()) {
            return List.of();
        }
        long from = spans.get(0).from();
        long to = spans.stream().mapToLong(FiguresReader::end).max().orElseThrow();
        long seconds = Math.max(1, (to - from) / 1000 / MOST_STRETCHES + 1);
        int count = (int) ((to - from) / 1000 / seconds) + 1;
        long[] rows = new long[count];
        int[] shards = new int[count];
        for (Span span : spans) {
            int at = (int) ((end(span) - from) / 1000 / seconds);
            rows[at] += span.rows();
            shards[at]++;
        }
        List<Stretch> stretches = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            stretches.add(new Stretch(from + i * seconds * 1000, seconds, rows[i], shards[i]));
        }
        return stretches;
    }

    private static long end(Span span) {
        return span.from() + Math.round(span.seconds() * 1000);
    }

    private record Kind(FailureClass failureClass, String reason) {}

    private static List<ErrorClass> errors(JobFiles job) throws IOException {
        LeaseStore locks = job.locks();
        Map<Kind, ErrorClass> errors = new LinkedHashMap<>();
        int retried = 0;
        for (Map.Entry<String, Long> highest : new TreeMap<>(locks.highestEpochs()).entrySet()) {
            boolean once = highest.getValue() == 1;
            if (once && job.done(ShardId.parse(highest.getKey())).isPresent() || retried++ >= MOST_RETRIED) {
                continue;
            }
            for (long epoch = 1; epoch <= highest.getValue(); epoch++) {
                locks.look(highest.getKey(), epoch)
                        .flatMap(LeaseStore.Sight::claim)
                        .filter(claim -> claim.status() == ClaimStatus.FAILED)
                        .ifPresent(claim -> count(errors, claim));
            }
        }
        return errors.values().stream()
                .sorted(Comparator.comparingInt(ErrorClass::count).reversed())
                .limit(SHOWN)
                .toList();
    }

    private static void count(Map<Kind, ErrorClass> errors, Claim claim) {
        String reason = claim.reason() == null ? "unknown" : claim.reason();
        String attempt = claim.attemptDir() == null ? "" : claim.attemptDir();
        ErrorClass one = new ErrorClass(
                Objects.requireNonNull(claim.failureClass()),
                kind(reason),
                1,
                new Example(
                        ShardId.parse(claim.key()),
                        claim.epoch(),
                        claim.node(),
                        reason,
                        attempt.substring(attempt.lastIndexOf('/') + 1)));
        errors.merge(
                new Kind(one.failureClass(), one.reason()),
                one,
                (first, next) ->
                        new ErrorClass(first.failureClass(), first.reason(), first.count() + 1, first.example()));
    }

    /** The same trouble with other numbers is the same trouble. */
    static String kind(String reason) {
        String line = reason.lines().findFirst().orElse("unknown");
        return line.replaceAll("\\d+", "#");
    }
}
