package dev.caravan.doctor;

import dev.caravan.CaravanException;
import dev.caravan.shard.NodeIdentity;
import dev.caravan.store.Access;
import dev.caravan.store.Disk;
import dev.caravan.store.Json;
import dev.caravan.store.Layout;
import dev.caravan.store.Mount;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The long form: measures the mount of a root with helper processes, and with the doctors of other nodes. */
public final class RootDoctor {
    private static final Logger LOG = LoggerFactory.getLogger(RootDoctor.class);

    private final Layout.Root root;
    private final Tools tools;
    private final Effort effort;

    public RootDoctor(Layout.Root root, Tools tools, Effort effort) {
        this.root = root;
        this.tools = tools;
        this.effort = effort;
    }

    /**
     * Measures, and keeps the result under the root. What it made for measuring is removed again in any case.
     *
     * @param name of this node, the same each time
     * @param nodes how many doctors measure together, this one included
     * @throws CaravanException if it cannot measure
     */
    public Diagnosis examine(String name, NodeIdentity who, int nodes) {
        try {
            if (!Disk.isDirectory(root.path())) {
                throw new CaravanException("there is no directory " + root.path()
                        + ": mount what is shared, or make the directory, then run this again");
            }
            Access.whyNotWritable(root.path()).ifPresent(why -> {
                throw new CaravanException("Caravan cannot run here: " + why);
            });
            String id = name + "-" + UUID.randomUUID().toString().substring(0, 8);
            requireDurableWrites(id);
            Meeting meeting = new Meeting(root.doctor(), id, tools.nanoClock(), effort.limit());
            Thread ifKilled = new Thread(() -> removeOnExit(meeting));
            Runtime.getRuntime().addShutdownHook(ifKilled);
            try {
                meeting.join();
                return examine(name, who, nodes, meeting);
            } catch (IOException | RuntimeException e) {
                meeting.leave(String.valueOf(e.getMessage()));
                throw e;
            } finally {
                clear(meeting);
                forget(ifKilled);
            }
        } catch (IOException e) {
            throw new CaravanException(
                    "could not measure " + root.path() + ": " + e + "; see whether the mount is there and not full", e);
        }
    }

    /** Else there is no use in measuring more, and no way to meet or to keep what was measured. */
    private void requireDurableWrites(String id) throws IOException {
        Path scratch = root.doctor().session(id);
        try {
            Disk.createDirectories(scratch);
            Measured fsync =
                    new HostChecks(tools.probe(), scratch).fsync(tools.nanoClock(), new Duration[] {Duration.ZERO});
            Optional<String> refusal = Diagnosis.refusal(List.of(fsync), Mount.of(root.path()));
            if (refusal.isPresent()) {
                throw new CaravanException(refusal.get());
            }
        } finally {
            remove(scratch);
            Disk.deleteIfEmpty(root.doctor().path());
        }
    }

    private Diagnosis examine(String name, NodeIdentity who, int nodes, Meeting meeting) throws IOException {
        Mount mount = Mount.of(root.path());
        List<String> members = meeting.gather(nodes);
        Path session = root.doctor().session(members.get(0));
        Examination examination = new Examination(tools, session, meeting, effort);
        List<Measured> properties = examination.run(mount);
        meeting.end();
        Diagnosis diagnosis = new Diagnosis(
                name,
                who.hostname(),
                tools.clock().instant().truncatedTo(ChronoUnit.SECONDS).toString(),
                root.path().toString(),
                mount,
                members,
                properties,
                examination.slowestWrite().toMillis(),
                examination.longestDelay().toMillis(),
                Recommendation.of(
                        mount.isLocal(),
                        examination.slowestWrite(),
                        nodes == 1 ? atLeast(examination.longestDelay(), mount) : examination.longestDelay()));
        boolean alone = members.stream().filter(m -> nameOf(m).equals(name)).count() == 1;
        Disk.replace(root.doctor().result(alone ? name : meeting.id()), Json.bytes(diagnosis));
        return diagnosis;
    }

    private static void forget(Thread hook) {
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException shuttingDown) {
            // it does its work
        }
    }

    /** The process was told to end in the middle: the others will miss it. */
    private void removeOnExit(Meeting meeting) {
        try {
            meeting.vanish();
            remove(root.doctor().session(meeting.members().get(0)));
            Disk.deleteIfEmpty(root.doctor().path());
        } catch (IOException e) {
            // the next doctor removes what stays
        }
    }

    private static String nameOf(String member) {
        return member.substring(0, member.lastIndexOf('-'));
    }

    private static Duration atLeast(Duration measured, Mount mount) {
        Duration declared = Recommendation.attributeCache(mount);
        return measured.compareTo(declared) > 0 ? measured : declared;
    }

    /** Also what doctors left that were killed: their files have not moved while this one measured. */
    private void clear(Meeting meeting) {
        try {
            Set<String> dead = meeting.dead();
            meeting.vanish();
            if (meeting.isOver()) {
                remove(root.doctor().session(meeting.members().get(0)));
            }
            for (String id : dead) {
                remove(root.doctor().session(id));
                Disk.deleteIfPresent(root.doctor().member(id));
            }
            Disk.deleteIfEmpty(root.doctor().meeting());
            Disk.deleteIfEmpty(root.doctor().path());
        } catch (IOException e) {
            LOG.warn(
                    "could not remove all that was made for measuring in {}: {}",
                    root.doctor().path(),
                    e.toString());
        }
    }

    /** Several doctors may remove the same folder at the same time, and a helper may be in its last breath. */
    private static void remove(Path folder) throws IOException {
        for (int attempt = 1; ; attempt++) {
            try {
                Disk.deleteTree(folder);
                return;
            } catch (IOException e) {
                if (attempt == 10) {
                    throw e;
                }
                LockSupport.parkNanos(attempt * 20_000_000L);
            }
        }
    }
}
