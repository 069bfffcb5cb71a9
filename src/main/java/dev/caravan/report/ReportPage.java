package dev.caravan.report;

import dev.caravan.shard.Engine;
import dev.caravan.shard.Execution;
import dev.caravan.shard.FailedRecord;
import dev.caravan.shard.Manifest;
import dev.caravan.shard.Policy;
import dev.caravan.status.FiguresReader;
import dev.caravan.status.JobFigures;
import dev.caravan.status.JobStatus;
import dev.caravan.store.Disk;
import dev.caravan.store.JobFiles;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** {@code report.html}: what ran, where, how long, what failed and what to do next. */
public final class ReportPage {
    private static final int MOST_ROWS = 100;
    private static final String HEAD = """
            <!DOCTYPE html>
            <html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
            <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
            <title>%s</title>
            <style>
            :root { color-scheme: light dark; --line: #8885; --bar: #2a7f78; }
            body { font: 15px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
            h2 { margin: 2rem 0 .5rem; font-size: 1.1rem; } table { border-collapse: collapse; width: 100%%; }
            th, td { text-align: left; vertical-align: top; padding: .3rem .8rem .3rem 0; border-bottom: 1px solid var(--line); }
            td { overflow-wrap: anywhere; } .number { font-variant-numeric: tabular-nums; }
            th { font-weight: 600; white-space: nowrap; } th[scope=row] { width: 14rem; } pre { white-space: pre-wrap; overflow-wrap: anywhere; margin: 0; }
            svg { width: 100%%; display: block; } rect { fill: var(--bar); fill-opacity: .7; } text { font-size: 13px; fill: currentColor; }
            .wide { overflow-x: auto; } .scale { display: flex; justify-content: space-between; margin: .2rem 0; opacity: .7; }
            .next { border-left: 4px solid var(--bar); padding: .2rem 1rem; }
            </style></head><body>
            """;

    private final Html page = new Html();
    private final JobFiles job;
    private final Manifest manifest;
    private final JobStatus status;
    private final JobFigures figures;

    private ReportPage(JobFiles job, JobStatus status) throws IOException {
        this.job = job;
        this.manifest = job.manifest();
        this.status = status;
        this.figures = FiguresReader.of(job);
    }

    /** Readers see the old report or the new one. */
    public static void write(JobFiles job, JobStatus status, Instant now) throws IOException {
        String html = new ReportPage(job, status).html(now);
        Disk.replace(job.layout().report(), html.getBytes(StandardCharsets.UTF_8));
    }

    private String html(Instant now) {
        page.add(HEAD.strip(), status.job() + ": " + status.state());
        page.add("<h1>%s: %s</h1>", status.job(), status.state());
        if (status.error() != null) {
            page.add("<pre>%s</pre>", status.error());
        }
        page.add("<p class=\"next\">%s</p>", next());
        whatRan(now);
        nodes();
        time();
        failures();
        ledger();
        settings();
        return page.add("</body></html>").toString();
    }

    private String next() {
        String dir = job.layout().path().toString();
        return switch (status.state()) {
            case DONE ->
                "Nothing is left to do. The result is " + status.output() + "; caravan verify --job-dir " + dir
                        + " proves it once more.";
            case CANCELLED -> "The job was cancelled and stays so. To run it after all, submit it under another name.";
            case FAILED ->
                "Remove the causes below, then: caravan retry --job-dir " + dir
                        + " --all-failed; running nodes go on by themselves. A job that failed at its merge goes on with"
                        + " caravan merge --job-dir " + dir + ".";
            default -> "The job goes on; this report is written anew when it ends.";
        };
    }

    private void whatRan(Instant now) {
        page.heading("What ran").add("<div class=\"wide\"><table><tbody>");
        page.fact("job directory", status.jobDir());
        page.fact("input", manifest.datasetPath());
        page.fact("engine", manifest.execution().engine());
        if (!manifest.execution().command().isEmpty()) {
            page.fact("command", String.join(" ", manifest.execution().command()));
        }
        if (manifest.recipe() != null) {
            page.fact(
                    "recipe",
                    manifest.recipe().sourcePath() + " (SHA-256 "
                            + manifest.recipe().sha256() + ")");
        }
        if (manifest.codeVersion() != null) {
            page.fact("Data-Juicer", manifest.codeVersion());
        }
        page.fact("output", status.output());
        page.fact("SHA-256", status.sha256() == null ? "not merged" : status.sha256());
        page.fact("prepared", manifest.createdAt());
        page.fact("report of", now);
        page.fact("time", text(Duration.between(Instant.parse(manifest.createdAt()), now)));
        page.endTable();
    }

    private static String text(Duration time) {
        return "%d h %02d min %02d s".formatted(time.toHours(), time.toMinutesPart(), time.toSecondsPart());
    }

    private void nodes() {
        page.heading("Where").table(List.of("node", "host", "shards done", "running at the end"));
        status.nodes().forEach(node -> page.row(node.node(), node.hostname(), node.done(), node.running()));
        page.endTable();
    }

    private void time() {
        List<JobFigures.Span> spans = figures.spans();
        if (spans.isEmpty()) {
            return;
        }
        page.heading("Shards by node, over time");
        if (spans.size() <= Timeline.MOST_SPANS) {
            Timeline.ofNodes(page, spans);
        } else {
            page.add("<p>%d shards are too many for a picture.</p>", spans.size());
        }
        page.heading("Rows finished, over time");
        Timeline.ofThroughput(page, figures.throughput());
        page.heading("Slowest shards").table(List.of("shard", "node", "seconds", "rows"));
        figures.slowest()
                .forEach(span -> page.row(
                        span.shard(),
                        span.node() + (span.speculative() ? " (speculative)" : ""),
                        Math.round(span.seconds() * 10) / 10.0,
                        span.rows()));
        page.endTable();
    }

    private void failures() {
        if (!status.failures().isEmpty()) {
            page.heading("Shards that have failed for good").table(List.of("shard", "class", "cause", "log"));
            status.failures().stream().limit(MOST_ROWS).forEach(this::failure);
            page.endTable();
            more(status.failures().size());
        }
        if (!figures.errors().isEmpty()) {
            page.heading("Failed attempts, by cause").table(List.of("class", "cause", "times", "for example"));
            figures.errors()
                    .forEach(error -> page.row(
                            error.failureClass(),
                            error.example().reason(),
                            error.count(),
                            error.example().shard() + " on " + error.example().node()));
            page.endTable();
        }
    }

    private void failure(FailedRecord record) {
        page.row(record.shardId(), record.failureClass(), record.reason(), record.attemptDir() + "/process.log");
    }

    private void more(int all) {
        if (all > MOST_ROWS) {
            page.add("<p>and %d more</p>", all - MOST_ROWS);
        }
    }

    private void ledger() {
        page.heading("Rows").table(List.of("step", "rows"));
        manifest.inputFiles().stream().limit(MOST_ROWS).forEach(file -> page.row("input " + file.path(), file.rows()));
        if (status.rows().quarantined() > 0) {
            page.row("set aside as no records (quarantine/)", status.rows().quarantined());
        }
        page.row("in " + manifest.numShards() + " shards", manifest.totalRows());
        page.row("of finished shards", status.rows().done());
        page.row("filtered out by the engine", status.rows().filtered());
        page.row("added by the engine", status.rows().expanded());
        page.row("set aside because the engine fails on them", status.rows().failed());
        page.row("results of finished shards", status.rows().out());
        job.merged().ifPresent(merged -> page.row("merged", merged.rows()));
        page.endTable();
        more(manifest.inputFiles().size());
        manifest.warnings().stream().limit(MOST_ROWS).forEach(warning -> page.add("<p>%s</p>", warning));
    }

    private void settings() {
        page.heading("Settings of the job").add("<div class=\"wide\"><table><tbody>");
        Execution.Ray ray = manifest.execution().ray();
        Policy policy = manifest.policy();
        if (manifest.execution().engine() == Engine.DATA_JUICER) {
            page.fact("ray.address", ray.address());
            page.fact("ray.num_cpus", orDefault(ray.numCpus()));
        }
        page.fact("ray.num_gpus", orDefault(ray.numGpus()));
        page.fact("policy.max_retries", policy.maxRetries());
        page.fact("policy.max_infra_retries", policy.maxInfraRetries());
        page.fact("policy.max_timeout_retries", policy.maxTimeoutRetries());
        page.fact("policy.max_stalled_retries", policy.maxStalledRetries());
        page.fact("policy.attempt_timeout", orNone(policy.attemptTimeout()));
        page.fact("policy.stall_timeout", orNone(policy.stallTimeout()));
        page.endTable();
    }

    private static Object orDefault(@Nullable Object value) {
        return value == null ? "default" : value;
    }

    private static String orNone(Duration limit) {
        return limit.isZero() ? "none" : text(limit);
    }
}
