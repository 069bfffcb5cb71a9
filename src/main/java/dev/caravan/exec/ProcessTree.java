package dev.caravan.exec;

import dev.caravan.store.Disk;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A process and everything it started. It leads a session of its own (setsid), and Ray's workers leave its process
 * group but not its session, so the session is what is ended.
 */
final class ProcessTree {
    private static final Logger LOG = LoggerFactory.getLogger(ProcessTree.class);
    private static final int SESSION_FIELD = 3; // of /proc/PID/stat after the name: state, parent, group, session

    private ProcessTree() {}

    /** TERM to the group, KILL to the whole session after the grace. Nothing of it is left on return. */
    static void kill(Process leader, Duration grace) {
        List<ProcessHandle> known = new ArrayList<>(leader.descendants().toList()); // before parents die
        Set<Long> sessions = sessionsOf(known);
        signalGroup(leader.pid());
        known.forEach(ProcessHandle::destroy);
        try {
            if (!leader.waitFor(grace.toMillis(), TimeUnit.MILLISECONDS)) {
                LOG.warn("pid {} did not end within {} ms of TERM: KILL", leader.pid(), grace.toMillis());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        leader.descendants().forEach(known::add);
        sessions.addAll(sessionsOf(known));
        sessions.add(leader.pid());
        sweep(sessions);
        known.forEach(ProcessHandle::destroyForcibly);
        leader.destroyForcibly();
    }

    /** KILL to whatever is left of the session, also when its leader has ended. */
    static void sweep(Process leader) {
        sweep(Set.of(leader.pid()));
    }

    /** Again and again until nobody new is found: a process may start another between our look and its end. */
    private static void sweep(Set<Long> sessions) {
        Set<Long> killed = new HashSet<>();
        List<ProcessHandle> left;
        do {
            left = ProcessHandle.allProcesses()
                    .filter(process -> !killed.contains(process.pid())
                            && sessionOf(process.pid())
                                    .filter(sessions::contains)
                                    .isPresent())
                    .toList();
            left.forEach(ProcessHandle::destroyForcibly);
            left.forEach(process -> killed.add(process.pid()));
        } while (!left.isEmpty());
    }

    /** The sessions that children made for themselves; never our own. */
    private static Set<Long> sessionsOf(List<ProcessHandle> processes) {
        Set<Long> sessions = new HashSet<>();
        processes.forEach(process -> sessionOf(process.pid()).ifPresent(sessions::add));
        sessionOf(ProcessHandle.current().pid()).ifPresent(sessions::remove);
        return sessions;
    }

    private static Optional<Long> sessionOf(long pid) {
        return Disk.readKernelText("/proc/" + pid + "/stat")
                .map(stat ->
                        Long.parseLong(stat.substring(stat.lastIndexOf(')') + 2).split(" ")[SESSION_FIELD]));
    }

    private static void signalGroup(long group) {
        try {
            new ProcessBuilder("kill", "-TERM", "--", "-" + group)
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .start()
                    .waitFor();
        } catch (IOException e) {
            LOG.debug("no kill command; the session is ended by KILL", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
