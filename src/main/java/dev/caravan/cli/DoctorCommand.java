package dev.caravan.cli;

import dev.caravan.CaravanException;
import dev.caravan.doctor.Diagnosis;
import dev.caravan.doctor.DiagnosisText;
import dev.caravan.doctor.Effort;
import dev.caravan.doctor.RootDoctor;
import dev.caravan.doctor.Tools;
import dev.caravan.doctor.repair.Finding;
import dev.caravan.doctor.repair.Finding.Need;
import dev.caravan.doctor.repair.JobDoctor;
import dev.caravan.node.Identities;
import dev.caravan.settings.Durations;
import dev.caravan.settings.Settings;
import dev.caravan.shard.NodeIdentity;
import dev.caravan.store.Json;
import dev.caravan.store.Layout;
import dev.caravan.store.Probe;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
        name = "doctor",
        mixinStandardHelpOptions = true,
        description = {
            "With --root: measures whether the mount does what Caravan needs, between processes of this machine and,"
                    + " with --peers, between nodes; recommends lease and heartbeat and keeps the result under the root.",
            "Exits with 0, or with 2 where Caravan must not run.",
            "",
            "With --job-dir: finds torn and foreign files, contradictions and leftovers, and explains each. Without --fix"
                    + " it changes nothing. If something is to be repaired it looks twice, a lease (claim.lease) apart.",
            "Exits with 0 nothing to do, 1 something can be repaired, 2 something needs a person.",
            ""
        })
final class DoctorCommand implements Callable<Integer> {
    @ArgGroup(multiplicity = "1")
    Subject subject = new Subject();

    static final class Subject {
        @Option(names = "--root", paramLabel = "DIR", required = true, description = "The shared root to measure.")
        @Nullable
        Path root;

        @Option(
                names = "--job-dir",
                paramLabel = "DIR",
                required = true,
                description = "The job directory to examine, instead of a root.")
        @Nullable
        Path jobDir;
    }

    @Option(
            names = "--peers",
            paramLabel = "N",
            defaultValue = "1",
            description = "How many nodes measure together, this one included: start the same command on N nodes. It"
                    + " waits 5 minutes for the others. Default: 1.")
    int peers;

    @Option(
            names = "--fix",
            description = "With --job-dir: repair what is provable. Nothing is destroyed: what is in the way moves to"
                    + " state/history/doctor-N.")
    boolean fix;

    @Option(names = "--json", description = "One JSON object on stdout.")
    boolean json;

    @Mixin
    SettingsOptions settings = new SettingsOptions();

    @Override
    public Integer call() {
        if (peers < 1) {
            throw new CaravanException("--peers counts this node too: expected 1 or more, found " + peers);
        }
        Settings loaded = settings.load();
        NodeIdentity who = Identities.of(loaded.text("node.id"));
        return subject.root != null
                ? measure(new Layout.Root(subject.root), who, loaded)
                : examine(new Layout.Job(Objects.requireNonNull(subject.jobDir)), who, loaded);
    }

    private int measure(Layout.Root shared, NodeIdentity who, Settings loaded) {
        if (fix) {
            throw new CaravanException("--fix goes with --job-dir: a mount is measured, not repaired");
        }
        String name = loaded.text("node.id").isEmpty() ? who.hostname() : who.id();
        Tools tools = new Tools(new Probe(), HelperProcess::start, Clock.systemUTC(), System::nanoTime);
        Diagnosis diagnosis = new RootDoctor(shared, tools, Effort.USUAL).examine(name, who, peers);
        if (json) {
            System.out.println(Json.line(diagnosis));
        } else {
            System.out.print(DiagnosisText.of(diagnosis));
        }
        diagnosis.refusal().ifPresent(why -> {
            throw new CaravanException(why);
        });
        return CaravanCommand.DONE;
    }

    private int examine(Layout.Job job, NodeIdentity who, Settings loaded) {
        if (peers > 1) {
            throw new CaravanException("--peers goes with --root: a job is examined by one node");
        }
        Duration lease = loaded.duration("claim.lease");
        List<Finding> findings = new JobDoctor(job, who, Clock.systemUTC(), () -> watch(lease)).examine(fix);
        if (json) {
            System.out.println(Json.line(Map.of("job_dir", job.path().toString(), "findings", findings)));
        } else {
            findings.forEach(System.out::println);
            System.out.println(summary(findings));
        }
        return has(findings, Need.PERSON)
                ? CaravanCommand.FAILED
                : has(findings, Need.FIX) ? CaravanCommand.NOT_FINISHED : CaravanCommand.DONE;
    }

    private static void watch(Duration lease) {
        System.err.println("watching for a lease (" + Durations.format(lease) + "), to see what changes");
        try {
            Thread.sleep(lease.toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CaravanException("interrupted; nothing was changed", e);
        }
    }

    private static boolean has(List<Finding> findings, Need need) {
        return findings.stream().anyMatch(finding -> finding.need() == need);
    }

    private static String summary(List<Finding> findings) {
        Map<Need, Long> counts = new TreeMap<>();
        findings.forEach(finding -> counts.merge(finding.need(), 1L, Long::sum));
        return findings.isEmpty()
                ? "nothing found"
                : findings.size() + " found: "
                        + counts.entrySet().stream()
                                .map(count -> count.getValue() + " " + count.getKey())
                                .collect(Collectors.joining(", "));
    }
}
