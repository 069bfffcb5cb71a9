package dev.caravan.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class OwnConfigurationIT {
    @RegisterExtension
    final Fleet fleet = new Fleet();

    @Test
    void a_route_of_the_same_name_replaces_the_packaged_one_and_reads_settings_from_all_sources() throws Exception {
        Sample job = new Sample(fleet.folder(), "own", 6, 2).written("");
        Path routes = fleet.folder().resolve("routes");
        String told = "{{caravan.claim.lease}} {{caravan.claim.margin}} {{caravan.claim.watch}} {{caravan.run.wait}}";
        Sample.write(
                routes.resolve("finalize.camel.yaml"),
                Sample.read(Path.of("routes", "finalize.camel.yaml"))
                        + "        - setBody: {simple: \"%s\"}%n".formatted(told)
                        + "        - to: \"file:%s?fileName=told.txt\"%n".formatted(fleet.folder()));
        Path file = fleet.folder().resolve("settings.yaml");
        Sample.write(file, """
                claim: {lease: 30s, margin: 7s, watch: 5}
                node.routes: %s
                """.formatted(routes));
        int port = freePort();
        fleet.with("claim.lease", "20s")
                .withVariable("CARAVAN_CLAIM_LEASE", "25s")
                .withVariable("CARAVAN_CLAIM_MARGIN", "6s")
                .withVariable("CARAVAN_HTTP_PORT", Integer.toString(port))
                .withVariable("CARAVAN_PORT", "tcp://10.0.0.1:80");
        fleet.run("submit", job.descriptor().toString(), "--root", job.root().toString())
                .endsWith(0);

        CaravanProcess node = fleet.start("node", "--root", job.root().toString(), "--configs", file.toString());

        Path written = fleet.folder().resolve("told.txt");
        Await.until("the added step has run", () -> Files.exists(written) || !node.isAlive(), node::toString);
        assertThat(written).content().isEqualTo("20s 6s 5 35h");
        assertThat(job.inRoot().mergedByDefault()).content().isEqualTo(job.expected());
        HttpResponse<String> health = HttpClient.newHttpClient()
                .send(
                        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/health/live"))
                                .build(),
                        HttpResponse.BodyHandlers.ofString());
        assertThat(health.statusCode()).isEqualTo(200);
        node.signal("TERM");
        node.ends();
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        }
    }
}
