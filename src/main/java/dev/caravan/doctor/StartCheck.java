package dev.caravan.doctor;

import com.fasterxml.jackson.databind.JsonNode;
import dev.caravan.CaravanException;
import dev.caravan.settings.Durations;
import dev.caravan.store.Access;
import dev.caravan.store.Disk;
import dev.caravan.store.Json;
import dev.caravan.store.Layout;
import dev.caravan.store.Mount;
import dev.caravan.store.Probe;
import dev.caravan.store.Space;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The short form, at the start of each node: once, alone, in a moment. Refuses to go on where Caravan must not run. */
public final class StartCheck {
    private static final Logger LOG = LoggerFactory.getLogger(StartCheck.class);

    private final Probe probe;
    private final Duration lease;

    /** @param lease of this node's settings */
    public StartCheck(Probe probe, Duration lease) {
        this.probe = probe;
        this.lease = lease;
    }

    /** @throws CaravanException that names the property and the mount */
    public void root(Layout.Root root) {
        Path directory = Access.existing(root.path());
        check(directory, List.of(root.inbox(), root.jobs()));
        compareLease(root.doctor());
    }

    /** @throws CaravanException that names the property and the mount */
    public void job(Layout.Job job) {
        Path directory = Access.existing(job.path());
        check(directory, List.of(job.locks(), job.doneRecords(), job.failedRecords(), job.attempts()));
        Path parent = job.path().getParent();
        if (parent != null) {
            compareLease(new Layout.Root(parent).doctor());
            if (parent.getParent() != null) { // the job directory of a root
                compareLease(new Layout.Root(parent.getParent()).doctor());
            }
        }
    }

    /** @param folders that are written to as well, where they exist */
    private void check(Path directory, List<Path> folders) {
        try {
            requireWritable(directory);
            for (Path folder : folders) {
                if (Disk.exists(folder)) {
                    requireWritable(folder);
                }
            }
            Mount mount = Mount.of(directory);
            List<Measured> found = new ArrayList<>(HostChecks.space(Space.of(directory)));
            Diagnosis.refusal(found, mount).ifPresent(StartCheck::refuse); // before anything is written
            found.addAll(measured(directory));
            Diagnosis.refusal(found, mount).ifPresent(StartCheck::refuse);
            found.stream()
                    .filter(line -> line.grade() == Grade.WARN)
                    .forEach(line -> LOG.warn("{}: {}: {} ({})", mount, line.property(), line.measured(), line.why()));
        } catch (IOException e) {
            throw new CaravanException(
                    "cannot use " + directory + ": " + Reason.of(e) + " ("
                            + e.getClass().getSimpleName()
                            + "); see whether the mount is there: caravan doctor --root DIR tells more",
                    e);
        }
    }

    private static void requireWritable(Path directory) throws IOException {
        Optional<String> why = Access.whyNotWritable(directory);
        if (why.isPresent()) {
            throw new CaravanException("Caravan cannot run here: " + why.get()
                    + "; give this user the right to write there, or use another directory");
        }
    }

    private static void refuse(String why) {
        throw new CaravanException(why + "; caravan doctor --root DIR measures more");
    }

    private List<Measured> measured(Path directory) throws IOException {
        Path scratch = Layout.startCheck(directory, UUID.randomUUID().toString());
        try {
            Disk.createDirectories(scratch);
            HostChecks checks = new HostChecks(probe, scratch);
            List<Measured> found = new ArrayList<>(checks.exclusives());
            found.add(checks.rename());
            return found;
        } finally {
            Disk.deleteTree(scratch);
        }
    }

    private void compareLease(Layout.Doctor doctor) {
        try {
            for (String name : Disk.list(doctor.path())) {
                if (Layout.Doctor.isResult(name)) {
                    compareLease(doctor.path().resolve(name));
                }
            }
        } catch (IOException | DateTimeParseException e) {
            LOG.warn("cannot read what the doctor found in {}: {}", doctor.path(), e.toString());
        }
    }

    private void compareLease(Path result) throws IOException {
        JsonNode diagnosis = Json.tree(Disk.read(result));
        if (Grade.FAIL.toString().equals(diagnosis.path("verdict").asText())) {
            LOG.warn(
                    "the doctor found that Caravan must not run here, see {}; if that is repaired, run it again",
                    result);
        }
        Duration recommended =
                Duration.parse(diagnosis.path("recommended").path("lease").asText("PT0S"));
        if (lease.compareTo(recommended) < 0) {
            LOG.warn(
                    "claim.lease is {}, but {} recommends {} (claim.heartbeat {}): living nodes may be taken for dead;"
                            + " set both as recommended on all nodes",
                    Durations.format(lease),
                    result,
                    Durations.format(recommended),
                    Durations.format(Duration.parse(
                            diagnosis.path("recommended").path("heartbeat").asText("PT0S"))));
        }
    }
}
