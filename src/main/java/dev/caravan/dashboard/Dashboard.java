package dev.caravan.dashboard;

import dev.caravan.shard.NodeIdentity;
import dev.caravan.status.EventCounts;
import dev.caravan.status.ReadModel;
import dev.caravan.store.Json;
import io.vertx.core.Handler;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import java.io.IOException;
import java.io.InputStream;
import java.time.Clock;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** All paths of a node's HTTP server but the health, on the router that Camel opens. */
public final class Dashboard {
    private static final Logger LOG = LoggerFactory.getLogger(Dashboard.class);
    private static final String POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self';"
            + " img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

    private final Guard guard;
    private final Api api;
    private final Metrics metrics;
    private final LiveStream live;

    public Dashboard(Guard guard, ReadModel model, EventCounts events, NodeIdentity who, Clock clock) {
        this.guard = guard;
        this.api = new Api(model, who, clock);
        this.metrics = new Metrics(model, events);
        this.live = new LiveStream(api);
    }

    public void install(Router router) {
        router.route().order(Integer.MIN_VALUE).handler(this::admit);
        file(router, "/", "index.html", "text/html; charset=utf-8");
        file(router, "/dashboard.css", "dashboard.css", "text/css; charset=utf-8");
        file(router, "/dashboard.js", "dashboard.js", "text/javascript; charset=utf-8");
        router.get("/api/live").handler(asked -> live.add(asked.response()));
        get(router, "/api/jobs", asked -> api.jobs());
        get(router, "/api/nodes", asked -> api.nodes());
        get(router, "/api/jobs/:job", asked -> api.job(of(asked, "job")));
        get(router, "/api/jobs/:job/shards", asked -> api.shards(of(asked, "job")));
        get(router, "/api/jobs/:job/figures", asked -> api.figures(of(asked, "job")));
        get(router, "/api/jobs/:job/attempts/:shard", asked -> api.attempts(of(asked, "job"), of(asked, "shard")));
        router.get("/api/jobs/:job/attempts/:shard/:attempt/log").blockingHandler(answering(this::log), false);
        router.get("/metrics").blockingHandler(answering(this::metrics), false);
        router.post("/api/jobs/:job/retry")
                .blockingHandler(json(asked -> api.retry(of(asked, "job"), query(asked, "shard"))), false);
        router.post("/api/jobs/:job/:act")
                .blockingHandler(json(asked -> api.control(of(asked, "job"), of(asked, "act"))), false);
        router.post("/api/nodes/:node/drain").blockingHandler(json(asked -> api.drain(of(asked, "node"))), false);
    }

    private void admit(RoutingContext asked) {
        asked.response()
                .putHeader("Content-Security-Policy", POLICY)
                .putHeader("X-Content-Type-Options", "nosniff")
                .putHeader("Referrer-Policy", "no-referrer")
                .putHeader("Cache-Control", "no-store");
        try {
            guard.check(
                    asked.request().method().name(),
                    asked.normalizedPath(),
                    asked.request().getHeader("Host"),
                    asked.request().getHeader("Authorization"));
        } catch (Refusal e) {
            refuse(asked, e);
            return;
        }
        asked.next();
    }

    private interface Question {
        Object answer(RoutingContext asked) throws IOException;
    }

    private interface Answering {
        void answer(RoutingContext asked) throws IOException;
    }

    private static void get(Router router, String path, Question question) {
        router.get(path).blockingHandler(json(question), false);
    }

    private static Handler<RoutingContext> json(Question question) {
        return answering(asked ->
                asked.response().putHeader("Content-Type", "application/json").end(Json.line(question.answer(asked))));
    }

    private static Handler<RoutingContext> answering(Answering answering) {
        return asked -> {
            try {
                answering.answer(asked);
            } catch (IOException | RuntimeException e) {
                refuse(asked, e);
            }
        };
    }

    private static void refuse(RoutingContext asked, Exception failure) {
        int status = Api.status(failure);
        if (status == 500) {
            LOG.warn("{} {}", asked.request().method(), asked.normalizedPath(), failure);
        }
        HttpServerResponse response = asked.response().setStatusCode(status);
        if (status == 401) {
            response.putHeader("WWW-Authenticate", "Bearer");
        }
        String why = failure.getMessage() == null ? failure.toString() : failure.getMessage();
        response.putHeader("Content-Type", "application/json").end(Json.line(Map.of("error", why)));
    }

    private void log(RoutingContext asked) throws IOException {
        byte[] tail = api.log(of(asked, "job"), of(asked, "shard"), of(asked, "attempt"), query(asked, "bytes"));
        asked.response().putHeader("Content-Type", "text/plain; charset=utf-8").end(Buffer.buffer(tail));
    }

    private void metrics(RoutingContext asked) throws IOException {
        asked.response()
                .putHeader("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
                .end(metrics.text());
    }

    /** Exact paths: nothing else of the jar can be asked for. */
    private static void file(Router router, String path, String name, String type) {
        Buffer content = Buffer.buffer(packaged(name));
        router.get(path)
                .handler(asked ->
                        asked.response().putHeader("Content-Type", type).end(content));
    }

    private static byte[] packaged(String name) {
        try (InputStream in = Dashboard.class.getResourceAsStream("/dashboard/" + name)) {
            if (in == null) {
                throw new IllegalStateException("not packaged: dashboard/" + name);
            }
            return in.readAllBytes();
        } catch (IOException e) {
            throw new IllegalStateException("cannot be read: dashboard/" + name, e);
        }
    }

    private static String of(RoutingContext asked, String parameter) {
        return asked.pathParam(parameter);
    }

    private static @Nullable String query(RoutingContext asked, String parameter) {
        return asked.request().getParam(parameter);
    }
}
