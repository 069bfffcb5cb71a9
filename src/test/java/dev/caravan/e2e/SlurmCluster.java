package dev.caravan.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.caravan.store.Disk;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;

/** Slurm's own daemons with two nodes on this machine, n1 and n2, until it is closed. Needs root. */
final class SlurmCluster implements AutoCloseable {
    private static final String CONF = """
            ClusterName=test
            SlurmctldHost=localhost(127.0.0.1)
            SlurmctldPort=%2$d
            SlurmUser=root
            SlurmdUser=root
            AuthType=auth/munge
            # a credential that lives longer makes a requeue take two minutes
            AuthInfo=socket=%1$s/munge.socket,cred_expire=5
            ProctrackType=proctrack/linuxproc
            TaskPlugin=task/none
            SelectType=select/cons_tres
            SelectTypeParameters=CR_CPU
            SlurmdParameters=config_overrides
            SchedulerParameters=sched_interval=5,bf_interval=5
            KillWait=5
            JobRequeue=1
            MailProg=/bin/true
            StateSaveLocation=%1$s/state
            SlurmdSpoolDir=%1$s/spool-%%n
            SlurmctldPidFile=%1$s/slurmctld.pid
            SlurmdPidFile=%1$s/slurmd-%%n.pid
            SlurmctldLogFile=%1$s/slurmctld.log
            SlurmdLogFile=%1$s/slurmd-%%n.log
            NodeName=n1 NodeHostname=localhost NodeAddr=127.0.0.1 Port=%3$d CPUs=2 RealMemory=2000
            NodeName=n2 NodeHostname=localhost NodeAddr=127.0.0.1 Port=%4$d CPUs=2 RealMemory=2000
            PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
            """;

    private final Path folder;
    private final List<Process> daemons = new ArrayList<>();

    private SlurmCluster(Path folder) {
        this.folder = folder;
    }

    static SlurmCluster start() throws IOException {
        SlurmCluster cluster = new SlurmCluster(Files.createTempDirectory("slurm")); // a socket's path must be short
        try {
            cluster.configure();
            cluster.startDaemons();
        } catch (IOException | RuntimeException | AssertionError e) {
            cluster.close();
            throw e;
        }
        return cluster;
    }

    private void configure() throws IOException {
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
        byte[] key = new byte[128];
        new Random().nextBytes(key);
        Path keyFile = Files.write(folder.resolve("munge.key"), key);
        Files.setPosixFilePermissions(keyFile, PosixFilePermissions.fromString("r--------"));
        for (String name : List.of("state", "spool-n1", "spool-n2")) {
            Files.createDirectory(folder.resolve(name));
        }
        try (ServerSocket a = new ServerSocket(0);
                ServerSocket b = new ServerSocket(0);
                ServerSocket c = new ServerSocket(0)) {
            Files.writeString(conf(), CONF.formatted(folder, a.getLocalPort(), b.getLocalPort(), c.getLocalPort()));
        }
    }

    private Path conf() {
        return folder.resolve("slurm.conf");
    }

    private void startDaemons() throws IOException {
        start(
                "munged",
                "--force",
                "--foreground",
                "--key-file=" + folder.resolve("munge.key"),
                "--socket=" + folder.resolve("munge.socket"),
                "--pid-file=" + folder.resolve("munged.pid"),
                "--log-file=" + folder.resolve("munged.log"),
                "--seed-file=" + folder.resolve("munged.seed"));
        Await.until("munged answers", () -> Files.exists(folder.resolve("munge.socket")), this::logs);
        start("slurmctld", "-D", "-i");
        start("slurmd", "-D", "-N", "n1");
        start("slurmd", "-D", "-N", "n2");
        Await.until(
                "both nodes are idle",
                () -> run("sinfo", "-h", "-t", "idle", "-o", "%D").equals("2"),
                this::logs);
    }

    private void start(String... command) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(
                        folder.resolve("daemon-" + daemons.size() + ".out").toFile());
        builder.environment().putAll(environment());
        daemons.add(builder.start());
    }

    /** By which commands find this cluster. */
    Map<String, String> environment() {
        return Map.of("SLURM_CONF", conf().toString());
    }

    /** @return what the command says, empty if it fails */
    String run(String... command) throws IOException, InterruptedException {
        ProcessBuilder builder = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD);
        builder.environment().putAll(environment());
        Process process = builder.start();
        String said = new String(process.getInputStream().readAllBytes()).strip();
        return process.waitFor() == 0 ? said : "";
    }

    /** Waits until Slurm is done with the job, with its state, and those of its tasks where they differ. */
    String stateAtEnd(String jobId, Path log) {
        Await.until(
                "job " + jobId + " has ended",
                () -> !state(jobId).matches("|.*(PENDING|RUNNING|COMPLETING).*"),
                () -> (Files.exists(log) ? Sample.read(log) : "") + logs());
        try {
            return state(jobId);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    private String state(String jobId) throws IOException, InterruptedException {
        return run("squeue", "-h", "-t", "all", "-j", jobId, "-o", "%T")
                .lines()
                .distinct()
                .sorted()
                .reduce("", (all, one) -> all.isEmpty() ? one : all + " " + one);
    }

    private String logs() {
        StringBuilder all = new StringBuilder();
        for (String name : Sample.names(folder)) {
            if (name.endsWith(".log") || name.endsWith(".out")) {
                all.append("--- ").append(name).append('\n').append(Sample.read(folder.resolve(name)));
            }
        }
        return all.toString();
    }

    @Override
    public void close() throws IOException {
        try {
            run("scancel", "--user=root", "--signal=KILL");
            run("scancel", "--user=root");
            Await.until("no job is left", () -> run("squeue", "-h").isEmpty());
            for (int i = daemons.size() - 1; i >= 0; i--) {
                daemons.get(i).destroy();
                if (!daemons.get(i).waitFor(20, TimeUnit.SECONDS)) {
                    daemons.get(i).destroyForcibly();
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            daemons.forEach(Process::destroyForcibly);
            Disk.deleteTree(folder);
        }
        assertThat(daemons).noneMatch(Process::isAlive);
    }
}
