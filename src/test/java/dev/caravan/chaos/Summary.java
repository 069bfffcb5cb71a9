package dev.caravan.chaos;

import dev.caravan.shard.Role;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** The numbers of a run, and what was wrong. */
final class Summary {
    private final long seed;
    private final long began = System.nanoTime();
    private final List<String> problems = new ArrayList<>();
    private final List<Aftermath.Takeover> timed = new ArrayList<>();
    private int jobs;
    private int takeovers;
    private int rolesTakenOver;
    private int wasted;
    private int attempts;
    private int temporaryFiles;
    private long longestStallMillis;
    private String faults = "";

    Summary(long seed) {
        this.seed = seed;
    }

    void add(Aftermath job, long stallMillis) {
        jobs++;
        takeovers += job.takeovers();
        rolesTakenOver += job.rolesTakenOver();
        wasted += job.wasted();
        attempts += job.attempts();
        timed.addAll(job.timed());
        longestStallMillis = Math.max(longestStallMillis, stallMillis);
        problems.addAll(job.problems());
        System.out.println(this);
    }

    void add(Leftovers leftovers) {
        temporaryFiles = leftovers.ofFaults();
        problems.addAll(leftovers.unexplained());
    }

    void finish(Timeline timeline, Duration longestLeave) {
        faults = """
                  kills %d (of them holders of prepare %d, of finalize %d), freezes %d, told to leave %d (longest %.1f s)
                  server hung %d, mount hung %d, mount dead %d, disk full %d, starts with a skewed clock %d, starts refused on a broken mount %d
                """.formatted(
                        timeline.count("kill of"),
                        timeline.holdersKilled(Role.PREPARE),
                        timeline.holdersKilled(Role.FINALIZE),
                        timeline.count("freeze of"),
                        timeline.count("leave of"),
                        longestLeave.toMillis() / 1e3,
                        timeline.count("hang of the server"),
                        timeline.count("hang of the mount"),
                        timeline.count("death of the mount"),
                        timeline.count("disk full"),
                        timeline.skewedStarts(),
                        timeline.count("start refused"));
    }

    List<String> problems() {
        return problems;
    }

    int rolesTakenOver() {
        return rolesTakenOver;
    }

    private static String times(List<Long> millis) {
        List<Long> sorted = millis.stream().sorted().toList();
        return "median %.1f s, 9 of 10 within %.1f s, longest %.1f s"
                .formatted(
                        sorted.get(sorted.size() / 2) / 1e3,
                        sorted.get(sorted.size() * 9 / 10) / 1e3,
                        sorted.get(sorted.size() - 1) / 1e3);
    }

    private String takeoverTimes() {
        if (timed.isEmpty()) {
            return "none timed";
        }
        List<Long> watched =
                timed.stream().map(Aftermath.Takeover::watchedMillis).toList();
        long late = watched.stream()
                .filter(time -> time > 2 * Chaos.LEASE.toMillis())
                .count();
        return """
                %d timed since a node was there to see it: %s; %d later than two leases (%d s)
                    since the kill: %s""".formatted(
                        timed.size(),
                        times(watched),
                        late,
                        2 * Chaos.LEASE.toSeconds(),
                        times(timed.stream().map(Aftermath.Takeover::millis).toList()));
    }

    @Override
    public String toString() {
        return """
                chaos: seed %d, %d job(s) finished, %d s in all
                %s  takeovers %d, of them of roles %d
                    %s
                  attempts beyond one a shard %d (attempt directories in all %d), temporary files left by faults %d
                  longest time without progress while a node was healthy %.1f s
                  problems: %s""".formatted(
                        seed,
                        jobs,
                        (System.nanoTime() - began) / 1_000_000_000,
                        faults,
                        takeovers,
                        rolesTakenOver,
                        takeoverTimes(),
                        wasted,
                        attempts,
                        temporaryFiles,
                        longestStallMillis / 1e3,
                        problems.isEmpty() ? "none" : "\n" + String.join("\n", problems));
    }
}
