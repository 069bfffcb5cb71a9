package dev.caravan.node;

import dev.caravan.CaravanException;
import dev.caravan.claim.RoleClaims;
import dev.caravan.claim.ShardClaims;
import dev.caravan.dashboard.Dashboard;
import dev.caravan.dashboard.Guard;
import dev.caravan.exec.Attempts;
import dev.caravan.exec.ChildBinding;
import dev.caravan.exec.ChildExecutor;
import dev.caravan.exec.Gpus;
import dev.caravan.exec.ShardInputs;
import dev.caravan.exec.Slots;
import dev.caravan.finalize.Merging;
import dev.caravan.intake.Inbox;
import dev.caravan.intake.Preparation;
import dev.caravan.intake.Settled;
import dev.caravan.lease.Heart;
import dev.caravan.lease.RetryPace;
import dev.caravan.settings.Settings;
import dev.caravan.shard.NodeIdentity;
import dev.caravan.shard.Role;
import dev.caravan.shard.Timing;
import dev.caravan.status.EventCounts;
import dev.caravan.status.ReadModel;
import dev.caravan.store.Disk;
import dev.caravan.store.JobFiles;
import dev.caravan.store.Layout;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.apache.camel.component.platform.http.vertx.VertxPlatformHttpRouter;
import org.apache.camel.component.properties.PropertiesComponent;
import org.apache.camel.main.BaseMainSupport;
import org.apache.camel.main.Main;
import org.apache.camel.main.MainListenerSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A running node: settings, beans and routes become one Camel, which lives until its plan or a signal ends it. */
public final class Node {
    private static final Logger LOG = LoggerFactory.getLogger(Node.class);

    private final Settings settings;
    private final NodePlan plan;
    private final NodeIdentity identity;
    private final Gpus gpus;
    private final Slots slots;
    private final ChildExecutor children;
    private final Attempts attempts;
    private final ShardInputs inputs;
    private final Heart heart;
    private final ActiveJobs jobs;
    private final DiskGuard disk;
    private final NodeWork work;
    private final PythonLink python;
    private final EventCounts eventCounts = new EventCounts();
    private final Events events;
    private final Main main = new Main();
    private volatile boolean toldToLeave;

    public Node(Settings settings, NodePlan plan, PythonLink python) {
        this.settings = settings;
        this.plan = plan;
        this.python = python;
        this.identity = Identities.of(settings.text("node.id"));
        this.events = new Events(identity, Clock.systemUTC(), eventCounts);
        this.gpus = Gpus.find(settings.integer("gpus.logical"), settings.text("gpus.devices"), System.getenv());
        this.slots = new Slots(settings.integer("node.slots"), settings.integer("node.prefetch"), gpus);
        this.children = new ChildExecutor(settings.duration("exec.grace"));
        this.inputs = new ShardInputs(scratch(settings), settings.size("node.min_free"));
        this.heart = Heart.beating(timing(settings));
        RetryPace pace = new RetryPace(
                settings.duration("retry.backoff"),
                settings.duration("retry.backoff_max"),
                settings.duration("retry.other_node_first"));
        JobGate gate = new JobGate(gpus, python, plan.root());
        JobCatalog catalog = plan.root() != null ? new RootJobs(plan.root(), new Inbox(plan.root())) : plan.job();
        long listEvery = settings.duration("claim.poll").toNanos();
        this.jobs = new ActiveJobs(
                catalog,
                entry -> new ActiveJob(
                        entry,
                        manifest -> new ShardClaims(
                                new JobFiles(entry.job()), plan.overrides().apply(manifest), heart, identity, pace),
                        new RoleClaims(entry.job(), entry.generation(), heart, identity, pace),
                        gate),
                new JobEnds(events, settings.duration("claim.lease"), Clock.systemUTC())::ended,
                System::nanoTime,
                listEvery);
        this.disk = new DiskGuard(
                plan.root() != null
                        ? plan.root().path()
                        : plan.job().job().path().getParent(),
                settings.size("node.min_free"));
        this.work = new NodeWork(jobs, slots, listEvery, plan.maxShards(), disk);
        this.attempts = new Attempts(
                python::side, System.getenv(), slots, work::isDraining, inputs, settings.duration("exec.commit_every"));
    }

    /** Where this machine's processes keep what they need for a while only. */
    public static Path scratch(Settings settings) {
        String asked = settings.text("exec.scratch");
        return Path.of(asked.isEmpty() ? System.getProperty("java.io.tmpdir") : asked);
    }

    public static Timing timing(Settings settings) {
        return new Timing(
                settings.duration("claim.lease"),
                settings.duration("claim.heartbeat"),
                settings.duration("claim.margin"));
    }

    public NodeIdentity identity() {
        return identity;
    }

    /** Those it has come across so far. */
    public List<Layout.Job> jobs() {
        return jobs.all().stream().map(job -> job.entry().job()).toList();
    }

    /**
     * Works until the plan says to leave or the process is told to stop.
     *
     * @return whether it was told to leave before the plan said so
     * @throws CaravanException if the node cannot start, or cannot work on the one job it is for
     */
    public boolean run() {
        LeaveSignal.onUsr1(() -> leave("signal USR1"));
        ScheduledThreadPoolExecutor timer = new ScheduledThreadPoolExecutor(3, task -> {
            Thread thread = new Thread(task, "node-watch");
            thread.setDaemon(true);
            return thread;
        });
        try {
            wire();
            quietly("look at the free space", disk::look);
            long look = heart.timing().lookEvery().toNanos();
            timer.scheduleWithFixedDelay(() -> quietly("watch", this::watch), look, look, TimeUnit.NANOSECONDS);
            long poll = settings.duration("claim.poll").toMillis();
            timer.scheduleWithFixedDelay(() -> leaveWhenOver(poll), 0, 1, TimeUnit.MILLISECONDS);
            timer.scheduleWithFixedDelay(
                    () -> quietly("review what was claimed ahead", work::reviewAhead),
                    poll,
                    poll,
                    TimeUnit.MILLISECONDS);
            plan.maxRuntime()
                    .ifPresent(limit -> timer.schedule(
                            () -> leave("--max-runtime is over"), limit.toMillis(), TimeUnit.MILLISECONDS));
            LOG.info(
                    "node {} starts: {} slot(s), GPUs {}, {}",
                    identity.id(),
                    settings.integer("node.slots"),
                    gpus.names(),
                    plan.root() != null
                            ? "root " + plan.root().path()
                            : "job " + plan.job().job().path());
            main.run();
        } catch (Exception e) {
            throw new CaravanException("the node could not start: " + innermost(e), e);
        } finally {
            timer.shutdownNow();
            children.close();
            inputs.close();
            heart.close();
        }
        refusedJob().ifPresent(why -> {
            throw new CaravanException(why);
        });
        LOG.info("node {} leaves", identity.id());
        return toldToLeave;
    }

    private void wire() throws IOException {
        main.setDefaultPropertyPlaceholderLocation("false");
        main.setInitialProperties(properties());
        main.configure().withRoutesIncludePattern(RouteSources.pattern(settings.text("node.routes"), servesHttp()));
        main.bind("childExecutor", children);
        main.bind("childBinding", new ChildBinding());
        main.bind("attempts", attempts);
        main.bind("shardWork", work.shards());
        main.bind("prepareWork", work.roles(Role.PREPARE, ActiveJob.Phase.PREPARE));
        main.bind("finalizeWork", work.roles(Role.FINALIZE, ActiveJob.Phase.FINALIZE));
        main.bind(
                "preparation",
                new Preparation(
                        python::recipe,
                        python,
                        work::isDraining,
                        settings.size("intake.shard_bytes"),
                        job -> KnownNodes.slots(job, settings),
                        scratch(settings)));
        main.bind("merging", new Merging(python::collect));
        ReadModel readModel = readModel();
        main.bind("readModel", readModel);
        main.bind("events", events);
        main.bind("roles", new Roles(work::isDraining));
        Layout.Root root = plan.root();
        if (root == null) { // the routes of inbox and presence are wired all the same, and not started
            root = new Layout.Root(plan.job().job().path().getParent());
        } else {
            Disk.createDirectories(root.inbox());
            Disk.createDirectories(root.jobs());
        }
        main.bind("inbox", new Inbox(root));
        main.bind("settled", new Settled(settings.duration("intake.settle"), System::nanoTime));
        Presence presence = new Presence(
                root,
                identity,
                new Presence.Size(
                        settings.integer("node.slots"),
                        gpus.names(),
                        heart.timing().heartbeat()),
                () -> new Presence.Condition(slots.inUse(), work.isDraining(), disk.trouble()),
                this::leave);
        main.bind("presence", presence);
        main.addMainListener(new MainListenerSupport() {
            @Override
            public void beforeInitialize(BaseMainSupport starting) {
                // the settings have looked at both already, by their own rules
                PropertiesComponent placeholders =
                        (PropertiesComponent) starting.getCamelContext().getPropertiesComponent();
                placeholders.setEnvironmentVariableMode(PropertiesComponent.ENVIRONMENT_VARIABLES_MODE_NEVER);
                placeholders.setSystemPropertiesMode(PropertiesComponent.SYSTEM_PROPERTIES_MODE_NEVER);
            }

            @Override
            public void beforeStart(BaseMainSupport starting) {
                events.start(starting.getCamelContext());
            }

            @Override
            public void afterStart(BaseMainSupport started) {
                if (servesHttp()) {
                    dashboard(readModel, started);
                }
            }

            @Override
            public void beforeStop(BaseMainSupport stopping) {
                work.drain();
                children.await(settings.duration("node.drain"));
                children.close();
                if (plan.stages().contains(NodePlan.Stage.PRESENCE)) {
                    presence.left();
                }
            }
        });
    }

    private void dashboard(ReadModel readModel, BaseMainSupport started) {
        int port = settings.integer("http.port");
        String host = settings.text("http.host");
        Guard guard = new Guard(host, settings.text("http.token"));
        new Dashboard(guard, readModel, eventCounts, identity, Clock.systemUTC())
                .install(VertxPlatformHttpRouter.lookup(
                        started.getCamelContext(), VertxPlatformHttpRouter.getRouterNameFromPort(port)));
        LOG.info(
                "dashboard: http://{}:{}/ (token for actions: {})",
                host,
                port,
                settings.text("http.token").isEmpty() ? guard.token() : "the setting http.token");
    }

    private boolean servesHttp() {
        return settings.integer("http.port") > 0;
    }

    private ReadModel readModel() {
        Duration staleAfter = settings.duration("claim.lease");
        return plan.root() != null
                ? ReadModel.ofRoot(plan.root(), staleAfter, Clock.systemUTC())
                : ReadModel.ofJob(plan.job().job(), staleAfter, Clock.systemUTC());
    }

    /** What routes may read: all settings, and what only this process knows, below {@code caravan.this}. */
    private Properties properties() {
        Properties properties = settings.properties();
        properties.setProperty("caravan.this.node", identity.id());
        properties.setProperty(
                "caravan.this.inbox.folder",
                plan.root() == null ? "none" : plan.root().inbox().toString());
        for (NodePlan.Stage stage : NodePlan.Stage.values()) {
            properties.setProperty(
                    "caravan.this." + stage.name().toLowerCase(Locale.ROOT),
                    Boolean.toString(plan.stages().contains(stage)));
        }
        properties.putIfAbsent("camel.server.enabled", Boolean.toString(servesHttp()));
        properties.putIfAbsent("camel.server.host", settings.text("http.host"));
        properties.putIfAbsent("camel.server.port", Integer.toString(settings.integer("http.port")));
        properties.putIfAbsent("camel.server.fileUploadEnabled", "false");
        Map.of(
                        "camel.main.name", "caravan",
                        "camel.main.shutdownTimeout", "25",
                        "camel.main.startupSummaryLevel", "Oneline",
                        "camel.main.autoConfigurationLogSummary", "false",
                        "camel.main.beanIntrospectionLoggingLevel", "DEBUG")
                .forEach(properties::putIfAbsent);
        return properties;
    }

    /** Before the plan says so: what runs may finish for a while, then it is preempted. */
    /** Tells it to end what it does, within a while, and to return from {@link #run}. */
    public void leave(String why) {
        LOG.info("node {} is to leave: {}", identity.id(), why);
        toldToLeave = true;
        work.drain();
        main.completed();
    }

    private void watch() throws IOException {
        quietly("look at the free space", disk::look);
        List<ActiveJob> unended = jobs.unended();
        jobs.all().stream()
                .filter(ActiveJob::isKnownCancelled)
                .forEach(job -> attempts.cancel(job.entry().job()));
        attempts.endSuperseded();
        for (ActiveJob job : unended) {
            job.watch(
                    settings.integer("claim.watch"), heart.timing().lookEvery().toNanos());
        }
    }

    private void leaveWhenOver(long poll) {
        long seen = work.nextLook().news();
        quietly("see whether to leave", this::leaveIfOver);
        try {
            work.nextLook().await(seen, poll);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void leaveIfOver() throws IOException {
        if (!main.isStarted()) {
            return; // before the routes run nothing has looked for work
        }
        boolean over = switch (plan.leave()) {
            case NEVER -> false;
            case JOBS_ENDED -> jobs.isOver() || hasWaitedTooLong();
            case SHARDS_SETTLED -> areShardsSettled() || work.isSpent();
        };
        if (over) {
            attempts.endSuperseded();
        }
        if (over || (plan.job() != null && refusedJob().isPresent())) {
            main.completed();
        }
    }

    /** A job that others should go on with, and do not: a missing node, another directory of the same name. */
    private boolean hasWaitedTooLong() {
        return plan.job() != null
                && work.idleNanos() > settings.duration("run.wait").toNanos();
    }

    private boolean areShardsSettled() throws IOException {
        jobs.isOver(); // lists
        for (ActiveJob job : jobs.all()) {
            ActiveJob.Phase phase = job.phase(0);
            boolean resting = phase == ActiveJob.Phase.PAUSED && !job.isSettled();
            if (phase == ActiveJob.Phase.PREPARE || phase == ActiveJob.Phase.WORK || resting) {
                return false;
            }
        }
        return true;
    }

    /** Why the one job of this node cannot be worked on here. */
    private Optional<String> refusedJob() {
        return plan.job() == null
                ? Optional.empty()
                : jobs.all().stream()
                        .map(ActiveJob::refused)
                        .flatMap(Optional::stream)
                        .findFirst();
    }

    private interface Step {
        void run() throws IOException;
    }

    /** A timer's task that throws is never run again, so nothing may leave it. */
    private static void quietly(String what, Step step) {
        try {
            step.run();
        } catch (IOException | RuntimeException e) {
            LOG.warn("could not {} ({}); trying again", what, e.toString());
        }
    }

    private static String innermost(Throwable error) {
        Throwable cause = error;
        while (cause.getCause() != null && cause.getCause() != cause) {
            cause = cause.getCause();
        }
        return cause.getMessage() == null ? cause.toString() : cause.getMessage();
    }
}
