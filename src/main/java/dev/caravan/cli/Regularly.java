package dev.caravan.cli;

import java.io.IOException;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/** Does something again and again, and once more at the end. */
final class Regularly implements AutoCloseable {
    private final ScheduledExecutorService thread = Executors.newSingleThreadScheduledExecutor(work -> {
        Thread made = new Thread(work, "regularly");
        made.setDaemon(true);
        return made;
    });
    private final Action action;

    interface Action {
        void run() throws IOException;
    }

    private Regularly(Action action) {
        this.action = action;
    }

    static Regularly every(int seconds, Action action) {
        Regularly regularly = new Regularly(action);
        regularly.thread.scheduleWithFixedDelay(regularly::run, seconds, seconds, TimeUnit.SECONDS);
        return regularly;
    }

    private void run() {
        try {
            action.run();
        } catch (IOException | RuntimeException e) {
            System.err.println("caravan: " + e.getMessage());
        }
    }

    @Override
    public void close() {
        thread.shutdownNow();
        run();
    }
}
