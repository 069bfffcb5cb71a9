package dev.caravan.doctor;

import com.fasterxml.jackson.databind.JsonNode;
import dev.caravan.CaravanException;
import dev.caravan.store.Disk;
import dev.caravan.store.Json;
import dev.caravan.store.Layout;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Doctors on several nodes that measure the same root at the same time. Each rewrites one file of its own: who it is,
 * which step it has reached, and what it found. A file whose count does not move is that of a doctor that was killed.
 */
final class Meeting {
    private static final long BEAT_MILLIS = 500;
    private static final long POLL_NANOS = 20_000_000;
    private static final long PARTING_NANOS = 10_000_000_000L;
    private static final long GONE_NANOS = 5_000_000_000L;
    private static final long DEATH_NANOS = 4_000_000_000L;
    private static final int LAST = Integer.MAX_VALUE;

    private final Layout.Doctor layout;
    private final String id;
    private final LongSupplier nanoClock;
    private final Duration limit;
    private final long began;
    private final Map<String, Object> facts = new TreeMap<>();
    private final Map<String, Long> firstBeats = new HashMap<>();
    private final Set<String> alive = new HashSet<>();
    private final ScheduledExecutorService beating = Executors.newSingleThreadScheduledExecutor(task -> {
        Thread thread = new Thread(task, "doctor-meeting");
        thread.setDaemon(true);
        return thread;
    });
    private volatile List<String> members;
    private long beat;
    private int step;
    private @Nullable String left;
    private boolean vanished;

    /** @param facts what the member found, by name */
    record Member(
            String id,
            long beat,
            List<String> members,
            int step,
            @Nullable String left,
            Map<String, JsonNode> facts) {}

    /** @param limit for the others to come, and to reach each step */
    Meeting(Layout.Doctor layout, String id, LongSupplier nanoClock, Duration limit) {
        this.layout = layout;
        this.id = id;
        this.nanoClock = nanoClock;
        this.limit = limit;
        this.began = nanoClock.getAsLong();
        this.members = List.of(id);
    }

    /** Shows that this node is here, from now on. */
    void join() throws IOException {
        publish();
        beating.scheduleWithFixedDelay(this::beat, BEAT_MILLIS, BEAT_MILLIS, TimeUnit.MILLISECONDS);
    }

    String id() {
        return id;
    }

    /** All who take part, this one included. */
    List<String> members() {
        return members;
    }

    private void beat() {
        try {
            publish();
        } catch (IOException e) {
            // the next step of the measurement says so
        }
    }

    private synchronized void publish() throws IOException {
        if (vanished) {
            return;
        }
        Map<String, Object> own = new TreeMap<>();
        own.put("id", id);
        own.put("beat", ++beat);
        own.put("members", members);
        own.put("step", step);
        own.put("left", left);
        own.put("facts", facts);
        Disk.createDirectories(layout.meeting()); // the last one to go removes it
        Disk.replace(layout.member(id), Json.bytes(own));
    }

    private Optional<Member> read(String member) throws IOException {
        try {
            Optional<byte[]> content = Disk.readIfPresent(layout.member(member));
            return content.isEmpty() ? Optional.empty() : Optional.of(Json.parse(content.get(), Member.class));
        } catch (IOException e) {
            if (Disk.isStaleHandle(e)) {
                return Optional.empty(); // it is replaced all the time: look again
            }
            throw e;
        }
    }

    /**
     * Waits until this many nodes agree on who takes part.
     *
     * @return all ids, sorted; the same on each node
     */
    List<String> gather(int nodes) throws IOException {
        long began = nanoClock.getAsLong();
        while (true) {
            Map<String, Member> seen = look();
            TreeSet<String> here = new TreeSet<>(alive);
            here.add(id);
            List<String> first = here.stream().limit(nodes).toList();
            if (first.size() == nodes && first.contains(id)) {
                synchronized (this) {
                    members = first;
                }
                publish();
                if (first.stream()
                        .filter(other -> !other.equals(id))
                        .allMatch(other -> seen.containsKey(other)
                                && seen.get(other).members().equals(first))) {
                    return first;
                }
            }
            if (isTooLate(began)) {
                throw new CaravanException("only " + here.size() + " of " + nodes + " nodes came to "
                        + layout.meeting() + " within " + limit.toSeconds() + " s: " + String.join(", ", here)
                        + "; start the same command on the other nodes at the same time. If it runs there, they do not"
                        + " see the same directory: compare what is mounted");
            }
            LockSupport.parkNanos(POLL_NANOS);
        }
    }

    private boolean isTooLate(long began) {
        return nanoClock.getAsLong() - began > limit.toNanos();
    }

    /** All member files; remembers whose count has moved. */
    private Map<String, Member> look() throws IOException {
        Map<String, Member> seen = new HashMap<>();
        for (String name : Disk.list(layout.meeting())) {
            if (Layout.Doctor.isResult(name)) {
                read(name.substring(0, name.lastIndexOf('.'))).ifPresent(member -> seen.put(member.id(), member));
            }
        }
        seen.forEach((other, member) -> {
            Long first = firstBeats.putIfAbsent(other, member.beat());
            if (first != null && first != member.beat()) {
                alive.add(other);
            }
        });
        return seen;
    }

    /** Tells the others what this node found; they have it after the next step. */
    synchronized void tell(String name, Object fact) {
        facts.put(name, fact);
    }

    /** Waits until all have come this far. */
    void step(String doing) throws IOException {
        synchronized (this) {
            step++;
        }
        publish();
        await(doing, step);
    }

    private void await(String doing, int until) throws IOException {
        long began = nanoClock.getAsLong();
        long lastSeen = began;
        List<String> waitingFor = new ArrayList<>(members);
        waitingFor.remove(id);
        while (!waitingFor.isEmpty()) {
            String other = waitingFor.get(0);
            Optional<Member> member = read(other);
            if (member.isPresent() && member.get().left() != null) {
                throw new CaravanException("node " + other + " left the measurement: "
                        + member.get().left());
            }
            lastSeen = member.isPresent() ? nanoClock.getAsLong() : lastSeen;
            if (member.isPresent() ? member.get().step() >= until : until == LAST) {
                waitingFor.remove(0);
            } else if (nanoClock.getAsLong() - lastSeen > GONE_NANOS) {
                throw new CaravanException("node " + other + " left the measurement before '" + doing + "'");
            } else if (isTooLate(began)) {
                throw new CaravanException("node " + other + " did not come to '" + doing + "' within "
                        + limit.toSeconds() + " s, or what it writes is not seen here");
            } else {
                LockSupport.parkNanos(POLL_NANOS);
            }
        }
    }

    /** What each node told, by id. */
    <T> Map<String, T> told(String name, Class<T> type) throws IOException {
        Map<String, T> told = new TreeMap<>();
        for (String member : members) {
            if (member.equals(id)) {
                told.put(id, Json.parse(Json.bytes(facts.get(name)), type));
            } else {
                JsonNode fact = read(member)
                        .map(Member::facts)
                        .map(all -> all.get(name))
                        .orElseThrow(() -> new CaravanException("node " + member + " did not tell " + name));
                told.put(member, Json.parse(Json.bytes(fact), type));
            }
        }
        return told;
    }

    /** Nothing of the session is needed any more by anyone. */
    void end() throws IOException {
        synchronized (this) {
            step = LAST;
        }
        publish();
        await("the end", LAST);
    }

    /** Tells the others why this node does not go on, and gives them time to read it. */
    void leave(String why) {
        synchronized (this) {
            left = why;
        }
        beat();
        try {
            waitUntil(member -> member.isEmpty() || member.get().left() != null);
        } catch (IOException e) {
            // then they must find out by themselves
        }
    }

    /** After this node has gone: whether all others have, too, so that nobody needs the session. */
    boolean isOver() throws IOException {
        return waitUntil(Optional::isEmpty) || step == LAST;
    }

    private boolean waitUntil(Predicate<Optional<Member>> gone) throws IOException {
        long began = nanoClock.getAsLong();
        for (String other : members) {
            while (!other.equals(id) && !gone.test(read(other))) {
                if (nanoClock.getAsLong() - began > PARTING_NANOS) {
                    return false;
                }
                LockSupport.parkNanos(POLL_NANOS);
            }
        }
        return true;
    }

    /** Ids whose files have not moved since this meeting began: their doctors were killed. */
    Set<String> dead() throws IOException {
        while (firstBeats.size() > alive.size() + 1 && nanoClock.getAsLong() - began < DEATH_NANOS) {
            LockSupport.parkNanos(POLL_NANOS);
        }
        return look().keySet().stream()
                .filter(other -> !alive.contains(other) && !other.equals(id))
                .collect(Collectors.toSet());
    }

    /** Nothing is left of this member, nor of the meeting if it was the last. */
    synchronized void vanish() throws IOException {
        vanished = true;
        beating.shutdownNow();
        Disk.deleteIfPresent(layout.member(id));
        Disk.deleteIfEmpty(layout.meeting());
    }
}
