package dev.caravan.chaos;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A machine with one node: a mount, host name and process ids of its own, and a clock that may be hours off. It is
 * started, ended and started again; each life is another node of the job. Thread-safe.
 */
final class Machine {
    private static final Path JAR = Path.of("target", "caravan.jar").toAbsolutePath();
    private static final String JAVA =
            Path.of(System.getProperty("java.home"), "bin", "java").toString();
    /** Process 1: sets the machine up, starts the node and collects what is orphaned. */
    private static final String INIT =
            "hostname \"$1\" && mount --bind \"$2\" \"$3\" || exit 99; shift 3; \"$@\" & wait $!";

    private static final Pattern STARTS = Pattern.compile("node (\\S+) starts");

    /** One life of the machine's node. */
    static final class Life {
        final int number;
        final Process outside;
        final Path log;
        private Optional<String> nodeId = Optional.empty();
        private boolean frozen;
        /** When it was killed or told to leave, by the monotonic clock; 0 if nobody asked it to end. */
        private long askedToEnd;

        private boolean leaving;

        private Life(int number, Process outside, Path log) {
            this.number = number;
            this.outside = outside;
            this.log = log;
        }
    }

    private final int client;
    private final Storage storage;
    private final Path folder;
    private final List<String> options;
    private final List<Life> lives = new ArrayList<>();

    Machine(int client, Storage storage, Path folder, List<String> options) {
        this.client = client;
        this.storage = storage;
        this.folder = folder;
        this.options = List.copyOf(options);
    }

    /** Nodes start all the time, so their classes are kept ready. @return the option that uses them */
    static String quickStart(Path folder) {
        String classes = folder.resolve("classes.jsa").toString();
        Shell.run(
                JAVA,
                "-XX:ArchiveClassesAtExit=" + classes,
                "-XX:+UseSerialGC",
                "-jar",
                JAR.toString(),
                "node",
                "--once",
                "--root",
                folder.resolve("empty").toString());
        return "-XX:SharedArchiveFile=" + classes;
    }

    int client() {
        return client;
    }

    String hostname() {
        return "chaos-" + client;
    }

    /** @param skew added to its clock, such as {@code +5h}; empty for the true time */
    synchronized void start(String skew, String... arguments) {
        int number = lives.size() + 1;
        Path log = folder.resolve(hostname() + "." + number + ".log");
        lives.add(new Life(number, launch(log, skew, arguments), log));
    }

    /** Runs a command on this machine, beside its node, to its end. @return the exit code */
    int run(Path log, String... arguments) throws InterruptedException {
        return launch(log, "", arguments).waitFor();
    }

    private Process launch(Path log, String skew, String... arguments) {
        List<String> command = new ArrayList<>(List.of("unshare", "-m", "--propagation", "slave", "-u", "-p", "-f"));
        command.addAll(List.of("--mount-proc", "--kill-child", "sh", "-c", INIT, "init"));
        command.addAll(List.of(
                hostname(), storage.mount(client).toString(), storage.shared().toString()));
        command.addAll(List.of(JAVA, "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx256m", "-Xshare:auto"));
        command.addAll(options);
        command.addAll(List.of("-jar", JAR.toString()));
        command.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(command)
                .directory(folder.toFile())
                .redirectErrorStream(true)
                .redirectOutput(log.toFile());
        Map<String, String> environment = builder.environment();
        environment
                .keySet()
                .removeIf(name -> name.startsWith("CARAVAN_") || name.endsWith("JOB_ID") || name.startsWith("JAVA_"));
        environment.putAll(skewed(skew));
        try {
            Process process = builder.start();
            process.getOutputStream().close();
            return process;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Map<String, String> skewed(String skew) {
        Map<String, String> environment = new HashMap<>();
        if (!skew.isEmpty()) {
            Needs.skewedClock().ifPresent(library -> {
                environment.put("LD_PRELOAD", library.toString());
                environment.put("FAKETIME", skew);
                environment.put("NO_FAKE_STAT", "1"); // the files' times are the server's
            });
        }
        return environment;
    }

    private Optional<Life> life() {
        return lives.isEmpty() ? Optional.empty() : Optional.of(lives.get(lives.size() - 1));
    }

    synchronized boolean isAlive() {
        return life().filter(life -> life.outside.isAlive()).isPresent();
    }

    /** Runs, is not frozen, and nobody has asked it to end. */
    synchronized boolean isUp() {
        return isAlive()
                && life().filter(life -> !life.frozen && life.askedToEnd == 0).isPresent();
    }

    /** Up and past its start. */
    synchronized boolean isWorking() {
        return isUp() && nodeId().isPresent();
    }

    /** Of its present life; empty until the node has said it. */
    synchronized Optional<String> nodeId() {
        return life().flatMap(this::nodeId);
    }

    private Optional<String> nodeId(Life life) {
        if (life.nodeId.isEmpty()) {
            Matcher matcher = STARTS.matcher(text(life.log));
            life.nodeId = matcher.find() ? Optional.of(matcher.group(1)) : Optional.empty();
        }
        return life.nodeId;
    }

    private static String text(Path log) {
        try {
            return Files.exists(log) ? Files.readString(log) : "";
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Power off: everything in the machine is gone at once, unless a hung mount holds it for a while. */
    synchronized void cutPower() {
        life().ifPresent(life -> {
            life.askedToEnd = System.nanoTime();
            life.outside.children().forEach(init -> Shell.signal("KILL", init.pid()));
        });
    }

    /** The node alone is killed; the machine follows. */
    synchronized void killNode() {
        life().ifPresent(life -> {
            life.askedToEnd = System.nanoTime();
            nodeProcess(life).ifPresentOrElse(node -> Shell.signal("KILL", node.pid()), this::cutPower);
        });
    }

    synchronized void leave() {
        life().ifPresent(life -> {
            life.askedToEnd = System.nanoTime();
            life.leaving = true;
            nodeProcess(life).ifPresent(node -> Shell.signal("TERM", node.pid()));
        });
    }

    /** @param whole its children too, as when a virtual machine is paused */
    synchronized void freeze(boolean whole) {
        life().ifPresent(life -> {
            life.frozen = true;
            signalAll(life, "STOP", whole);
        });
    }

    synchronized void thaw() {
        life().filter(life -> life.frozen).ifPresent(life -> {
            signalAll(life, "CONT", true);
            life.frozen = false;
        });
    }

    private static void signalAll(Life life, String signal, boolean whole) {
        nodeProcess(life).ifPresent(node -> {
            Shell.signal(signal, node.pid());
            if (whole) {
                node.descendants().forEach(child -> Shell.signal(signal, child.pid()));
            }
        });
    }

    private static Optional<ProcessHandle> nodeProcess(Life life) {
        return life.outside
                .children()
                .flatMap(ProcessHandle::children)
                .filter(child ->
                        child.info().command().filter(c -> c.endsWith("/java")).isPresent())
                .findFirst();
    }

    /** Takes the mount that was made anew outside. */
    synchronized void remount() {
        life().filter(life -> life.outside.isAlive())
                .ifPresent(life -> life.outside
                        .children()
                        .forEach(init -> Shell.result(
                                Map.of(),
                                "nsenter",
                                "-t",
                                Long.toString(init.pid()),
                                "-m",
                                "sh",
                                "-c",
                                "umount -l \"$2\" 2>/dev/null; mount --bind \"$1\" \"$2\"",
                                "remount",
                                storage.mount(client).toString(),
                                storage.shared().toString())));
    }

    /** How the present life ended, if it did and nobody asked it to. */
    synchronized Optional<String> diedByItself() {
        return life().filter(life -> !life.outside.isAlive() && life.askedToEnd == 0)
                .map(life -> hostname() + " life " + life.number + " ended by itself with exit code "
                        + life.outside.exitValue() + (nodeId(life).isEmpty() ? " before it started" : "") + "\n"
                        + tail(life));
    }

    /** How long the last node took to leave when told to; empty if it was not, or was killed meanwhile. */
    synchronized Optional<Duration> leftWithin() {
        return life().filter(life -> life.leaving && !life.outside.isAlive())
                .map(life -> Duration.ofNanos(System.nanoTime() - life.askedToEnd));
    }

    synchronized int exitCode() {
        return life().orElseThrow().outside.exitValue();
    }

    synchronized Optional<Long> killedAt(String nodeId) {
        return lives.stream()
                .filter(life -> life.askedToEnd != 0
                        && !life.leaving
                        && nodeId(life).filter(nodeId::equals).isPresent())
                .map(life -> life.askedToEnd)
                .findFirst();
    }

    synchronized void awaitEnd(Duration limit) throws InterruptedException {
        Optional<Life> last = life();
        if (last.isPresent() && !last.get().outside.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS)) {
            throw new AssertionError(hostname() + " did not end within " + limit + "\n" + tail(last.get()));
        }
    }

    /** Everything in the machine besides process 1 and the node. */
    synchronized List<ProcessHandle> children() {
        return life().flatMap(Machine::nodeProcess)
                .map(node -> node.descendants().toList())
                .orElse(List.of());
    }

    synchronized String tail() {
        return life().map(Machine::tail).orElse(hostname() + " never started");
    }

    private static String tail(Life life) {
        List<String> lines = text(life.log).lines().toList();
        return String.join("\n", lines.subList(Math.max(0, lines.size() - 40), lines.size()));
    }

    synchronized int lifeCount() {
        return lives.size();
    }
}
