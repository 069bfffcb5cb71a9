package dev.caravan.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.HttpURLConnection;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What a node tells and takes over HTTP. */
class HttpIT {
    private static final String WAITS = "while [ ! -e \"$5/go\" ]; do sleep 0.05; done";

    @RegisterExtension
    final Fleet fleet = new Fleet();

    private final Web web = Web.free();

    private CaravanProcess node(Sample... jobs) {
        String root = fleet.folder().resolve("root").toString();
        for (Sample job : jobs) {
            fleet.run("submit", job.descriptor().toString(), "--root", root).endsWith(0);
        }
        fleet.with("http.port", Integer.toString(web.port())).with("http.token", Web.TOKEN);
        CaravanProcess node = fleet.start("node", "--root", root);
        Await.until("the node answers", () -> web.answers() || !node.isAlive(), node::toString);
        return node;
    }

    @Test
    void jobs_attempts_logs_and_metrics_are_told_and_nothing_else() throws IOException {
        Sample job = new Sample(fleet.folder(), "told", 6, 2)
                .written("echo \"to the log\"; case $3 in part-00001*) exit 3;; esac", "policy: {max_retries: 0}");
        CaravanProcess node = node(job);
        Await.until(
                "the job has failed",
                () -> web.json("/api/jobs/told").path("state").asText().equals("failed"),
                node::toString);

        JsonNode status = web.json("/api/jobs/told");
        assertThat(status.path("shards").path("done").asInt()).isEqualTo(1);
        assertThat(web.json("/api/jobs").get(0).path("job").asText()).isEqualTo("told");
        assertThat(web.json("/api/jobs").get(0).has("all_shards")).isFalse();
        assertThat(web.json("/api/jobs/told/shards").get(1).path("state").asText())
                .isEqualTo("failed");
        String attempt = web.json("/api/jobs/told/attempts/part-00001-of-00002")
                .get(0)
                .path("name")
                .asText();
        String log = "/api/jobs/told/attempts/part-00001-of-00002/" + attempt + "/log";
        assertThat(web.get(log).body()).isEqualTo("to the log\n");
        assertThat(web.get(log + "?bytes=4").body()).isEqualTo("log\n");
        JsonNode figures = web.json("/api/jobs/told/figures");
        assertThat(figures.path("errors").get(0).path("failure_class").asText()).isEqualTo("data");
        assertThat(figures.path("slowest")).hasSize(1);

        assertThat(unknown("/api/jobs/none")).isEqualTo("there is no job none");
        assertThat(unknown("/api/jobs/told/attempts/part-00001-of-00002/none/log"))
                .contains("no log of attempt none");
        assertThat(unknown("/api/jobs/told/attempts/..%2F..%2Fstate/x/log")).contains("..");
        assertThat(unknown("/api/jobs/told/attempts/part-00001-of-00002/..%2F..%2F..%2F..%2F..%2Fetc/log"))
                .contains("no log");
        assertThat(web.get(log + "?bytes=99999999").statusCode()).isEqualTo(400);
        assertThat(web.get("/routes/http.camel.yaml").statusCode()).isEqualTo(404);
        assertThat(web.get("/dashboard/../log4j2.properties").statusCode()).isEqualTo(404);

        Await.until(
                "the end is told",
                () -> web.get("/metrics").body().contains("caravan_events_total{event=\"finished\"} 1"),
                node::toString);
        String metrics = web.get("/metrics").body();
        assertThat(metrics.lines())
                .contains(
                        "caravan_jobs{state=\"failed\"} 1",
                        "caravan_jobs{state=\"running\"} 0",
                        "caravan_nodes{state=\"live\"} 1",
                        "caravan_slots{of=\"all\"} 1",
                        "caravan_events_total{event=\"claimed\"} 2",
                        "caravan_events_total{event=\"done\"} 1",
                        "caravan_events_total{event=\"failed\"} 1",
                        "caravan_events_total{event=\"finished\"} 1");
        assertThat(job.inRoot().report()).content().contains("<h1>told: failed</h1>", "sh returned exit code 3");
        assertThat(metrics).doesNotContain("part-0000").doesNotContain("job=\"told\"");
        assertThat(metrics.lines().filter(line -> !line.startsWith("#")))
                .allMatch(line -> line.matches("[a-z_]+\\{[a-z]+=\"[^\"]*\"(,[a-z]+=\"[^\"]*\")*} \\d+"));
        assertThat(web.get("/").headers().firstValue("Content-Security-Policy").orElseThrow())
                .contains("default-src 'none'", "script-src 'self'");
        assertThat(rawAnswer("GET /api/jobs HTTP/1.1\r\nHost: rebound.example:80\r\nConnection: close\r\n\r\n"))
                .startsWith("HTTP/1.1 403");
    }

    private String unknown(String path) throws IOException {
        HttpResponse<String> answer = web.get(path);
        assertThat(answer.statusCode()).as(path).isEqualTo(404);
        return new ObjectMapper().readTree(answer.body()).path("error").asText();
    }

    private String rawAnswer(String request) throws IOException {
        try (Socket socket = new Socket("127.0.0.1", web.port())) {
            socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    @Test
    void actions_need_the_token_and_do_what_the_commands_do() throws IOException {
        Sample job = new Sample(fleet.folder(), "acted", 6, 2).written(WAITS);
        Sample failing = new Sample(fleet.folder(), "failing", 1, 1)
                .written("[ -e \"$5/repaired\" ] || exit 3", "policy: {max_retries: 0}");
        CaravanProcess node = node(failing);
        awaitState("failing", "failed", node);

        assertThat(web.get("/api/jobs/failing/retry").statusCode()).isEqualTo(405);
        for (String token : List.of("", "0123456789abcdee", Web.TOKEN + "0")) {
            assertThat(web.post("/api/jobs/failing/retry", token).statusCode()).isEqualTo(401);
        }
        Files.createFile(fleet.folder().resolve("repaired"));
        assertThat(web.post("/api/jobs/failing/retry", Web.TOKEN).body()).contains("part-00000-of-00001");
        awaitState("failing", "done", node);
        assertThat(web.post("/api/jobs/failing/cancel", Web.TOKEN).statusCode()).isEqualTo(409);
        assertThat(web.post("/api/jobs/none/cancel", Web.TOKEN).statusCode()).isEqualTo(404);
        assertThat(web.post("/api/jobs/failing/explode", Web.TOKEN).statusCode())
                .isEqualTo(404);

        fleet.run("submit", job.descriptor().toString(), "--root", job.root().toString())
                .endsWith(0);
        Await.until("a shard is worked on", () -> job.runs().stream().anyMatch(run -> run.contains("-of-00002 ")));
        assertThat(web.post("/api/jobs/acted/pause", Web.TOKEN).body()).contains("\"state\":\"paused\"");
        assertThat(job.inRoot().paused()).exists();
        assertThat(web.post("/api/jobs/acted/resume", Web.TOKEN).body()).contains("\"state\":\"running\"");
        assertThat(web.post("/api/jobs/acted/cancel", Web.TOKEN).body()).contains("\"state\":\"cancelled\"");
        assertThat(liveEvent()).contains("\"cancelled\"", "\"nodes\"");

        String id = web.json("/api/nodes").get(0).path("id").asText();
        assertThat(web.json("/api/nodes").get(0).path("state").asText()).isEqualTo("live");
        assertThat(web.post("/api/nodes/none/drain", Web.TOKEN).statusCode()).isEqualTo(404);
        assertThat(web.post("/api/nodes/" + id + "/drain", "").statusCode()).isEqualTo(401);
        assertThat(web.post("/api/nodes/" + id + "/drain", Web.TOKEN).statusCode())
                .isEqualTo(200);
        node.endsWith(0);
        assertThat(node.stderr()).contains("it was asked to drain");
        assertThat(job.root().resolve("nodes").resolve(id + ".json")).content().doesNotContain("\"left_at\" : null");
    }

    private void awaitState(String job, String state, CaravanProcess node) {
        Await.until(
                job + " is " + state,
                () -> web.json("/api/jobs/" + job).path("state").asText().equals(state),
                node::toString);
    }

    private String liveEvent() throws IOException {
        HttpURLConnection stream =
                (HttpURLConnection) URI.create(web.url("/api/live")).toURL().openConnection();
        try (BufferedReader lines =
                new BufferedReader(new InputStreamReader(stream.getInputStream(), StandardCharsets.UTF_8))) {
            String line = "";
            while (!line.startsWith("data: ")) {
                line = lines.readLine();
            }
            return line;
        } finally {
            stream.disconnect();
        }
    }

    @Test
    void a_server_for_all_machines_shows_nothing_without_the_token_and_a_route_of_ones_own_hears_of_events()
            throws IOException {
        Sample job = new Sample(fleet.folder(), "heard", 4, 2).written("");
        fleet.with("http.host", "0.0.0.0")
                .with(
                        "node.routes",
                        Path.of("samples", "routes").toAbsolutePath().toString());
        CaravanProcess node = node(job);

        assertThat(web.get("/health/live").statusCode()).isEqualTo(200);
        assertThat(web.get("/api/jobs").statusCode()).isEqualTo(401);
        assertThat(web.get("/metrics").statusCode()).isEqualTo(401);
        assertThat(web.get("/api/live").statusCode()).isEqualTo(401);
        assertThat(web.json("/api/jobs", "Authorization", "Bearer " + Web.TOKEN).isArray())
                .isTrue();

        Path told = fleet.folder().resolve("events").resolve("heard.jsonl");
        Await.until("the end is told", () -> node.stderr().contains("\"event\":\"finished\""), node::toString);
        List<String> events = new ArrayList<>();
        for (String line : Sample.read(told).lines().toList()) {
            events.add(new ObjectMapper().readTree(line).path("event").asText());
        }
        assertThat(events).containsExactly("accepted", "prepared", "claimed", "done", "claimed", "done", "finished");
        assertThat(node.stderr().lines().filter(line -> line.contains("for your attention")))
                .hasSize(1);
        assertThat(Sample.read(told)).contains("\"state\":\"done\"");
    }
}
