package dev.caravan.doctor.repair;

import dev.caravan.CaravanException;
import dev.caravan.doctor.repair.Finding.Need;
import dev.caravan.shard.NodeIdentity;
import dev.caravan.shard.ShardId;
import dev.caravan.store.Disk;
import dev.caravan.store.JobFiles;
import dev.caravan.store.Layout;
import java.io.IOException;
import java.time.Clock;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Examines one job and repairs it. What is to be repaired has been seen twice, unchanged, a whole lease apart: so it is
 * neither work of a living node nor a name that this host sees late. Safe beside running nodes.
 */
public final class JobDoctor {
    private static final Pattern SHARD = Pattern.compile("part-\\d{5,}-of-\\d{5,}");

    private final JobFiles files;
    private final NodeIdentity who;
    private final Clock clock;
    private final Waiting waiting;

    /** Lets a whole lease pass. */
    @FunctionalInterface
    public interface Waiting {
        void lease();
    }

    public JobDoctor(Layout.Job job, NodeIdentity who, Clock clock, Waiting waiting) {
        this.files = new JobFiles(job);
        this.who = who;
        this.clock = clock;
        this.waiting = waiting;
    }

    /** @param fix whether to repair; else nothing is changed */
    public List<Finding> examine(boolean fix) {
        Layout.Job job = files.layout();
        if (!Disk.exists(job.path()) && !Disk.exists(job.coordination())) {
            files.manifest(); // says what is missing
        }
        try {
            List<Case> cases = confirmed();
            return fix ? repaired(cases) : cases.stream().map(Case::finding).toList();
        } catch (IOException e) {
            throw new CaravanException("cannot examine " + job.path() + ": " + e, e);
        }
    }

    private List<Case> confirmed() throws IOException {
        List<Case> first = new JobSurvey(files).look(shard -> true);
        if (first.stream().noneMatch(found -> found.finding().need() == Need.FIX)) {
            return first;
        }
        waiting.lease();
        Set<ShardId> doubtful = new HashSet<>();
        for (Case found : first) {
            Matcher shard = SHARD.matcher(found.finding().path());
            if (shard.find()) {
                doubtful.add(ShardId.parse(shard.group()));
            }
        }
        List<Case> confirmed = new ArrayList<>();
        for (Case second : new JobSurvey(files).look(doubtful::contains)) {
            if (second.finding().need() != Need.FIX || first.stream().anyMatch(second::isSameAs)) {
                confirmed.add(second);
            }
        }
        return confirmed;
    }

    private List<Finding> repaired(List<Case> cases) throws IOException {
        Bench bench = new Bench(files.layout(), who, clock);
        List<Finding> findings = new ArrayList<>();
        for (Case found : cases) {
            Case.Repair repair = found.repair();
            findings.add(repair == null ? found.finding() : repaired(found.finding(), repair, bench));
        }
        bench.record(findings.stream()
                .filter(finding -> finding.need() == Need.FIXED)
                .toList());
        return findings;
    }

    private static Finding repaired(Finding finding, Case.Repair repair, Bench bench) {
        try {
            return finding.repaired(repair.on(bench));
        } catch (IOException e) {
            return finding.notRepaired("could not be repaired: " + e);
        }
    }
}
