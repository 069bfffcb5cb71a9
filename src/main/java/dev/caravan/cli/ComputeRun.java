package dev.caravan.cli;

import dev.caravan.CaravanException;
import java.time.Clock;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Which run of {@code caravan compute} this process takes part in.
 *
 * @param id names its job directory; the same on all hosts
 * @param alone whether no other host takes part
 * @param first whether this host is the one that prints results
 * @param localProcesses how many processes a launcher has started on this host
 */
record ComputeRun(String id, boolean alone, boolean first, OptionalInt localProcesses) {
    private static final DateTimeFormatter TIME =
            DateTimeFormatter.ofPattern("yyyyMMdd-HHmmss").withZone(ZoneOffset.UTC);

    /** What launchers call the number of all processes, and of those on one host. */
    private static final Map<String, String> SIZES =
            Map.of("WORLD_SIZE", "LOCAL_WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE");

    static ComputeRun of(@Nullable String given, Map<String, String> environment, boolean hasSink, Clock clock) {
        boolean alone = number(environment, "SLURM_NNODES").orElse(1) <= 1 || !environment.containsKey("SLURM_LOCALID");
        OptionalInt local = OptionalInt.empty();
        for (var size : SIZES.entrySet()) {
            OptionalInt here = number(environment, size.getValue());
            if (here.isPresent()) {
                local = here;
                alone = alone && number(environment, size.getKey()).orElse(0) <= here.getAsInt();
            }
        }
        if (!alone && !hasSink) {
            throw new CaravanException(
                    "several hosts take part, and what each of them computes must meet somewhere: name"
                            + " a folder that all of them see by --sink DIR");
        }
        String fresh = "run-" + TIME.format(clock.instant()) + "-"
                + ProcessHandle.current().pid();
        String id = given != null ? given : alone ? fresh : ofLauncher(environment);
        boolean first = Stream.of("RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID")
                .map(name -> number(environment, name))
                .filter(OptionalInt::isPresent)
                .findFirst()
                .map(rank -> rank.getAsInt() == 0)
                .orElse(true);
        return new ComputeRun(id, alone, first, local);
    }

    private static OptionalInt number(Map<String, String> environment, String name) {
        String text = environment.getOrDefault(name, "");
        return text.matches("\\d{1,9}") ? OptionalInt.of(Integer.parseInt(text)) : OptionalInt.empty();
    }

    private static String ofLauncher(Map<String, String> environment) {
        String elastic = environment.getOrDefault("TORCHELASTIC_RUN_ID", "none");
        Optional<String> known = elastic.equals("none")
                ? Optional.of(RunId.of(null, environment)).filter(id -> !id.equals(RunId.BY_HAND))
                : Optional.of(elastic);
        return known.map(id -> "run-" + id.replaceAll("[^A-Za-z0-9._-]", "-"))
                .orElseThrow(() -> new CaravanException("several hosts take part, and nothing tells this run from the"
                        + " next: give all of them the same --job-id ID, or torchrun an --rdzv-id"));
    }
}
