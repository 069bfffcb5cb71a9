package dev.caravan.chaos;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The short form; with {@code mvn -Pchaos verify -Dchaos.minutes=30 -Dchaos.seed=7} the long one. */
class ChaosIT {
    private static final long SEED = Long.getLong("chaos.seed", System.nanoTime() & 0xffff);
    private static final int MINUTES = Integer.getInteger("chaos.minutes", 0);

    private static Chaos.Plan plan() {
        return MINUTES == 0
                ? new Chaos.Plan(
                        SEED,
                        new Workload(60, 150, 2_000),
                        List.of(Fault.KILL, Fault.FREEZE, Fault.LEAVE, Fault.HANG_SERVER),
                        Duration.ZERO,
                        Duration.ofSeconds(2))
                : new Chaos.Plan(
                        SEED,
                        new Workload(500, 20, 400),
                        List.of(),
                        Duration.ofMinutes(MINUTES),
                        Duration.ofMillis(1_500));
    }

    @Test
    void a_job_on_a_network_file_system_survives_all_that_can_happen() throws Exception {
        Optional<String> missing = Needs.missing();
        assumeTrue(missing.isEmpty(), () -> "skipped: " + missing.orElseThrow());
        Path folder = Files.createTempDirectory("caravan-chaos-");
        System.out.println("chaos: seed " + SEED + ", logs in " + folder);

        Summary summary = new Chaos(plan(), folder).run();

        System.out.println(summary);
        assertThat(summary.problems()).isEmpty();
        assertThat(summary.rolesTakenOver())
                .as("prepare and finalize were taken over")
                .isGreaterThanOrEqualTo(2);
        Shell.result(Map.of(), "rm", "-rf", "--one-file-system", folder.toString());
    }
}
