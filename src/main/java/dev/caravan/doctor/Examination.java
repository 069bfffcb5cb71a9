package dev.caravan.doctor;

import dev.caravan.store.Disk;
import dev.caravan.store.Mount;
import dev.caravan.store.Probe;
import dev.caravan.store.Space;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;

/** One node's part of a measurement: the same steps in the same order on each node. */
final class Examination {
    private static final int REPLACEMENTS = 20;
    private static final Duration SLOW = Duration.ofSeconds(10);
    private static final Duration PATIENCE_WITH_LOCKS = Duration.ofSeconds(20);

    private final Tools tools;
    private final Probe probe;
    private final Path session;
    private final String id;
    private final List<String> members;
    private final Meeting meeting;
    private final Effort effort;
    private final List<HelperLink> helpers = new ArrayList<>();
    private final List<Measured> found = new ArrayList<>();
    private final Duration[] slowestWrite = {Duration.ZERO};
    private Duration longestDelay = Duration.ZERO;

    Examination(Tools tools, Path session, Meeting meeting, Effort effort) {
        this.tools = tools;
        this.probe = tools.probe();
        this.session = session;
        this.id = meeting.id();
        this.members = meeting.members();
        this.meeting = meeting;
        this.effort = effort;
    }

    Duration slowestWrite() {
        return slowestWrite[0];
    }

    Duration longestDelay() {
        return longestDelay;
    }

    List<Measured> run(Mount mount) throws IOException {
        Path own = session.resolve("alone-" + id);
        for (Path folder :
                List.of(own, races("link"), races("create"), replaced(id).getParent(), echo(id))) {
            Disk.createDirectories(folder);
        }
        try {
            for (int i = 0; i < effort.helpers(); i++) {
                helpers.add(tools.helpers().start());
            }
            HostChecks alone = new HostChecks(probe, own);
            found.add(HostChecks.mount(mount));
            found.addAll(HostChecks.space(Space.of(session)));
            found.add(alone.fsync(tools.nanoClock(), slowestWrite));
            List<Measured> exclusives = alone.exclusives();
            found.addAll(exclusives);
            boolean links = exclusives.stream()
                    .anyMatch(line -> line.property() == Property.LINK && line.grade() != Grade.WARN);
            probe.create(replaced(id), Helper.replacement(0));
            meeting.step("folders and helpers are there");
            race(Property.LINK_RACE, Task.Kind.RACE_LINK, "link", links ? Grade.FAIL : Grade.WARN);
            race(Property.CREATE_RACE, Task.Kind.RACE_CREATE, "create", links ? Grade.WARN : Grade.FAIL);
            found.add(rename(alone.rename()));
            delays();
            found.add(alone.timeStep());
            found.add(clocks(alone.clockOffset(tools.clock())));
            lock(Property.FCNTL, Task.Kind.HOLD_FCNTL, Task.Kind.TRY_FCNTL);
            lock(Property.FLOCK, Task.Kind.HOLD_FLOCK, Task.Kind.TRY_FLOCK);
            return List.copyOf(found);
        } finally {
            helpers.forEach(HelperLink::close);
        }
    }

    private String next() {
        return members.get((members.indexOf(id) + 1) % members.size());
    }

    private Path races(String kind) {
        return session.resolve("race-" + kind);
    }

    private Path replaced(String member) {
        return session.resolve("replace").resolve(member);
    }

    private Path echo(String member) {
        return session.resolve("echo-" + member);
    }

    private Future<Task.Answer> ask(int helper, Task.Kind kind, Path where, int count, Duration time) {
        return helpers.get(helper)
                .ask(new Task(kind, where.toAbsolutePath().toString(), id + "-" + helper, count, time.toMillis()));
    }

    /** All helpers of all nodes at once. */
    private void race(Property property, Task.Kind kind, String folder, Grade broken) throws IOException {
        meeting.step("the " + property);
        List<Future<Task.Answer>> asked = new ArrayList<>();
        for (int i = 0; i < helpers.size(); i++) {
            asked.add(ask(i, kind, races(folder), effort.names(), Duration.ZERO));
        }
        Map<String, Task.Answer> answers = new TreeMap<>();
        for (int i = 0; i < helpers.size(); i++) {
            answers.put(id + "-" + i, HelperLink.within(effort.limit(), asked.get(i)));
        }
        meeting.tell(folder, new Raced(answers));
        meeting.step("the end of the " + property);
        Map<String, List<Integer>> won = new TreeMap<>();
        for (Raced raced : meeting.told(folder, Raced.class).values()) {
            for (Map.Entry<String, Task.Answer> answer : raced.answers.entrySet()) {
                if (answer.getValue().error() != null) {
                    found.add(new Measured(
                            property, answer.getKey() + ": " + answer.getValue().error(), broken));
                    return;
                }
                won.put(answer.getKey(), answer.getValue().won());
            }
        }
        found.add(new Races(probe, tools.nanoClock(), effort.patience())
                .judge(property, races(folder), effort.names(), won, broken));
    }

    record Raced(Map<String, Task.Answer> answers) {}

    /** One helper replaces this node's file; one reads it, one reads that of the next node. */
    private Measured rename(Measured once) throws IOException {
        if (once.grade() == Grade.FAIL) {
            meeting.step("no reading");
            return once;
        }
        meeting.step("reading what is replaced");
        Future<Task.Answer> writer = ask(1, Task.Kind.REPLACE, replaced(id), REPLACEMENTS, effort.readFor());
        List<Future<Task.Answer>> readers = List.of(
                ask(0, Task.Kind.READ, replaced(id), 0, effort.limit()),
                ask(2, Task.Kind.READ, replaced(next()), 0, effort.limit()));
        Task.Answer written = HelperLink.within(effort.limit(), writer);
        long reads = 0;
        long missing = 0;
        long mixed = 0;
        long stale = 0;
        String error = written.error();
        for (Future<Task.Answer> reader : readers) {
            Task.Answer read = HelperLink.within(effort.limit(), reader);
            error = error == null ? read.error() : error;
            reads += read.reads();
            missing += read.missing();
            mixed += read.mixed();
            stale += read.stale();
        }
        if (error != null) {
            return Measured.fail(Property.RENAME, "could not be measured: " + error);
        }
        String measured =
                written.reads() + " replacements, " + reads + " reads: " + missing + " missing, " + mixed + " mixed";
        if (missing + mixed > 0) {
            return Measured.fail(Property.RENAME, measured);
        }
        return stale > 0
                ? Measured.warn(Property.RENAME, measured + ", " + stale + " to be read again (stale handle)")
                : Measured.ok(Property.RENAME, measured);
    }

    /** In a ring: a helper answers the node before this one, while this process asks the next. */
    private void delays() throws IOException {
        meeting.step("delays");
        Future<Task.Answer> answering = ask(0, Task.Kind.ECHO, echo(id), effort.rounds(), effort.patience());
        Map<Echo.Sign, Duration> seen = new EnumMap<>(Echo.Sign.class);
        String trouble =
                "not seen by another process within " + effort.patience().toSeconds() + " s";
        try {
            seen = new Echo(probe, echo(next()), tools.nanoClock(), effort.rounds(), effort.patience()).ask();
        } catch (IOException e) {
            trouble = "could not be measured: " + Reason.of(e);
        }
        Task.Answer answered = seen.size() == Echo.Sign.values().length
                ? HelperLink.within(effort.patience().plusSeconds(5), answering)
                : Task.Answer.got(false);
        trouble = answered.error() == null ? trouble : "could not be measured: " + answered.error();
        Duration opened = seen.get(Echo.Sign.NAME_OPENED);
        Duration listed = seen.get(Echo.Sign.NAME_LISTED);
        found.add(
                opened == null || listed == null
                        ? Measured.fail(Property.NEW_NAME, trouble)
                        : delay(Property.NEW_NAME, max(opened, listed), "opened " + millis(opened) + ", listed "));
        found.add(delay(Property.REMOVED_NAME, seen.get(Echo.Sign.NAME_GONE), trouble, Grade.WARN));
        found.add(delay(Property.NEW_CONTENT, seen.get(Echo.Sign.CONTENT), trouble, Grade.FAIL));
        found.add(delay(Property.BEAT, seen.get(Echo.Sign.TIME), trouble, Grade.FAIL));
        found.add(delay(Property.GROWTH, seen.get(Echo.Sign.SIZE), trouble, Grade.WARN));
        for (Echo.Sign sign :
                List.of(Echo.Sign.NAME_OPENED, Echo.Sign.NAME_LISTED, Echo.Sign.CONTENT, Echo.Sign.TIME)) {
            longestDelay = max(longestDelay, seen.getOrDefault(sign, Duration.ZERO));
        }
        meeting.step("the end of delays");
    }

    private static Measured delay(Property property, Duration longest, String before) {
        return new Measured(property, before + millis(longest), longest.compareTo(SLOW) > 0 ? Grade.WARN : Grade.OK);
    }

    private static Measured delay(Property property, @Nullable Duration longest, String trouble, Grade ifNever) {
        return longest == null ? new Measured(property, trouble, ifNever) : delay(property, longest, "within ");
    }

    private static Duration max(Duration one, Duration other) {
        return one.compareTo(other) > 0 ? one : other;
    }

    private static String millis(Duration duration) {
        return duration.toMillis() + " ms";
    }

    private Measured clocks(long offset) throws IOException {
        meeting.tell("clock", offset);
        meeting.step("clocks");
        Map<String, Long> offsets = meeting.told("clock", Long.class);
        String measured = "file system - host: " + offset + " ms";
        if (offsets.size() > 1) {
            long spread = offsets.values().stream()
                            .mapToLong(Long::longValue)
                            .max()
                            .orElse(0)
                    - offsets.values().stream().mapToLong(Long::longValue).min().orElse(0);
            measured += "; hosts differ by " + spread + " ms";
        }
        return Measured.ok(Property.CLOCK, measured);
    }

    /** One helper holds this node's lock; another tries it, and that of the next node. */
    private void lock(Property property, Task.Kind hold, Task.Kind attempt) throws IOException {
        Path mine = session.resolve("lock-" + hold + "-" + id);
        Task.Answer held = HelperLink.within(PATIENCE_WITH_LOCKS, ask(1, hold, mine, 0, Duration.ZERO));
        meeting.step("holding " + property);
        Task.Answer here = HelperLink.within(PATIENCE_WITH_LOCKS, ask(2, attempt, mine, 0, Duration.ZERO));
        Path others = session.resolve("lock-" + hold + "-" + next());
        Task.Answer there = members.size() == 1
                ? here
                : HelperLink.within(PATIENCE_WITH_LOCKS, ask(2, attempt, others, 0, Duration.ZERO));
        meeting.step("the end of " + property);
        for (Task.Answer answer : List.of(held, here, there)) {
            if (answer.error() != null) {
                found.add(Measured.warn(property, "do not work here: " + answer.error()));
                return;
            }
        }
        if (!held.got()) {
            found.add(Measured.warn(property, "a free lock was refused"));
        } else if (here.got() || there.got()) {
            found.add(Measured.warn(
                    property, "lie: two processes " + (here.got() ? "of this host" : "of two nodes") + " held one"));
        } else {
            found.add(Measured.ok(property, "exclude " + (members.size() == 1 ? "on this host" : "between nodes")));
        }
    }
}
