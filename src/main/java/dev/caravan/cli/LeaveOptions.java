package dev.caravan.cli;

import dev.caravan.settings.Durations;
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
            description = "Leave at this time, such as 2026-01-31T18:00:00Z or seconds since 1970.")
    @Nullable
    Instant deadline;

    /** The earlier of both; null for no limit. */
    @Nullable
    Duration limit() {
        Duration untilDeadline = deadline == null ? null : Duration.between(Instant.now(), deadline);
        if (maxRuntime == null || untilDeadline == null) {
            return maxRuntime == null ? untilDeadline : maxRuntime;
        }
        return maxRuntime.compareTo(untilDeadline) < 0 ? maxRuntime : untilDeadline;
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
