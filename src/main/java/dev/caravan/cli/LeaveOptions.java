package dev.caravan.cli;

import dev.caravan.settings.Durations;
import dev.caravan.settings.Settings;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/** When a node leaves although work is left, as schedulers with a time limit need it. */
final class LeaveOptions {
    @Option(
            names = "--max-runtime",
            paramLabel = "TIME",
            converter = DurationConverter.class,
            description = "Leave after this long, such as 50m: claim nothing more and hand running shards back.")
    @Nullable
    Duration maxRuntime;

    @Option(
            names = "--deadline",
            paramLabel = "INSTANT",
            converter = InstantConverter.class,
            description =
                    "Leave at this time, such as 2026-01-31T18:00:00Z or seconds since 1970. Default: in time before"
                            + " $SLURM_JOB_END_TIME, if that is set.")
    @Nullable
    Instant deadline;

    private static final String END_OF_SLURM_JOB = "SLURM_JOB_END_TIME";

    /** For the last facts to be written, and clocks that differ. */
    private static final Duration RESERVE = Duration.ofSeconds(10);

    /** The earlier of both; null for no limit. */
    @Nullable
    Duration limit(Settings settings) {
        Instant end = deadline == null ? beforeEndOfSlurmJob(settings) : deadline;
        Duration untilDeadline = end == null ? null : Duration.between(Instant.now(), end);
        if (maxRuntime == null || untilDeadline == null) {
            return maxRuntime == null ? untilDeadline : maxRuntime;
        }
        return maxRuntime.compareTo(untilDeadline) < 0 ? maxRuntime : untilDeadline;
    }

    private static @Nullable Instant beforeEndOfSlurmJob(Settings settings) {
        String end = System.getenv().getOrDefault(END_OF_SLURM_JOB, "");
        return end.matches("\\d{1,15}")
                ? Instant.ofEpochSecond(Long.parseLong(end))
                        .minus(settings.duration("node.drain"))
                        .minus(settings.duration("exec.grace"))
                        .minus(RESERVE)
                : null;
    }

    static final class DurationConverter implements ITypeConverter<Duration> {
        @Override
        public Duration convert(String text) {
            try {
                return Durations.parse(text);
            } catch (IllegalArgumentException e) {
                throw new TypeConversionException(e.getMessage());
            }
        }
    }

    static final class InstantConverter implements ITypeConverter<Instant> {
        @Override
        public Instant convert(String text) {
            try {
                return text.matches("\\d+") ? Instant.ofEpochSecond(Long.parseLong(text)) : Instant.parse(text);
            } catch (DateTimeParseException | NumberFormatException e) {
                throw new TypeConversionException("expected a time such as 2026-01-31T18:00:00Z, found '" + text + "'");
            }
        }
    }
}
