package dev.caravan.e2e;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;

/** The HTTP server of a node of a test, on a port that was free. */
record Web(int port) {
    static final String TOKEN = "0123456789abcdef";
    private static final HttpClient CLIENT = HttpClient.newHttpClient();

    static Web free() {
        try (ServerSocket socket = new ServerSocket(0)) {
            return new Web(socket.getLocalPort());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    String url(String path) {
        return "http://127.0.0.1:" + port + path;
    }

    HttpResponse<String> get(String path, String... headers) {
        return send(HttpRequest.newBuilder(URI.create(url(path))), headers);
    }

    JsonNode json(String path, String... headers) {
        try {
            return new ObjectMapper().readTree(get(path, headers).body());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    HttpResponse<String> post(String path, String token) {
        return send(
                HttpRequest.newBuilder(URI.create(url(path))).POST(HttpRequest.BodyPublishers.noBody()),
                "Authorization",
                "Bearer " + token);
    }

    boolean answers() {
        try {
            return get("/").statusCode() == 200;
        } catch (UncheckedIOException notYet) {
            return false;
        }
    }

    private static HttpResponse<String> send(HttpRequest.Builder request, String... headers) {
        try {
            return CLIENT.send(
                    (headers.length == 0 ? request : request.headers(headers)).build(),
                    HttpResponse.BodyHandlers.ofString());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }
}
