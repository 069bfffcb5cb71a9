package dev.caravan.dashboard;

import dev.caravan.store.Json;
import io.vertx.core.http.HttpServerResponse;
import java.io.IOException;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Sends jobs and nodes to every open page, each time they have changed. Reads the directory only while there is one. */
final class LiveStream {
    private static final Logger LOG = LoggerFactory.getLogger(LiveStream.class);
    private static final long LOOK_EVERY_MILLIS = 2_000;

    private final Api api;
    private final Set<HttpServerResponse> pages = ConcurrentHashMap.newKeySet();
    private final ScheduledThreadPoolExecutor timer = new ScheduledThreadPoolExecutor(1, task -> {
        Thread thread = new Thread(task, "dashboard-live");
        thread.setDaemon(true);
        return thread;
    });
    private String last = "";

    LiveStream(Api api) {
        this.api = api;
        timer.scheduleWithFixedDelay(this::look, LOOK_EVERY_MILLIS, LOOK_EVERY_MILLIS, TimeUnit.MILLISECONDS);
    }

    void add(HttpServerResponse page) {
        page.setChunked(true).putHeader("Content-Type", "text/event-stream");
        page.closeHandler(gone -> pages.remove(page));
        page.exceptionHandler(gone -> pages.remove(page));
        page.write(": welcome\n\n");
        timer.execute(() -> {
            pages.add(page);
            last = ""; // the new page needs all, and the others do not mind
            look();
        });
    }

    private void look() {
        if (pages.isEmpty()) {
            return;
        }
        String event;
        try {
            event = "data: " + Json.line(Map.of("jobs", api.jobs(), "nodes", api.nodes())) + "\n\n";
        } catch (IOException | RuntimeException e) {
            LOG.debug("the dashboard cannot read the shared directory", e);
            event = "event: trouble\ndata: " + Json.line(String.valueOf(e.getMessage())) + "\n\n";
        }
        boolean changed = !event.equals(last);
        last = event;
        for (HttpServerResponse page : pages) {
            if (!page.writeQueueFull()) {
                page.write(changed ? event : ": nothing new\n\n");
            }
        }
    }
}
