package dev.caravan.doctor;

import dev.caravan.store.Json;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** The doctor's end of a helper: asks one thing at a time. */
public final class HelperLink implements AutoCloseable {
    private final OutputStream tasks;
    private final BufferedReader answers;
    private final Runnable end;

    /** Starts a helper. */
    @FunctionalInterface
    public interface Starter {
        HelperLink start() throws IOException;
    }

    /** @param end ends the helper for good */
    public HelperLink(OutputStream tasks, InputStream answers, Runnable end) {
        this.tasks = tasks;
        this.answers = new BufferedReader(new InputStreamReader(answers, StandardCharsets.UTF_8));
        this.end = end;
    }

    Future<Task.Answer> ask(Task task) {
        CompletableFuture<Task.Answer> answer = new CompletableFuture<>();
        Thread asking = new Thread(() -> answer.complete(exchange(task)), "doctor-asks");
        asking.setDaemon(true);
        asking.start();
        return answer;
    }

    private synchronized Task.Answer exchange(Task task) {
        try {
            tasks.write((Json.line(task) + "\n").getBytes(StandardCharsets.UTF_8));
            tasks.flush();
            String line = answers.readLine();
            return line == null
                    ? Task.Answer.failed("the helper process has ended")
                    : Json.parse(line.getBytes(StandardCharsets.UTF_8), Task.Answer.class);
        } catch (IOException e) {
            return Task.Answer.failed("the helper process does not answer: " + e.getMessage());
        }
    }

    static Task.Answer within(Duration limit, Future<Task.Answer> answer) {
        try {
            return answer.get(limit.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            return Task.Answer.failed("no answer within " + limit.toSeconds() + " s");
        } catch (ExecutionException e) {
            return Task.Answer.failed(String.valueOf(e.getCause()));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Task.Answer.failed("interrupted");
        }
    }

    @Override
    public void close() {
        try {
            tasks.close();
        } catch (IOException gone) {
            // it has ended already
        }
        end.run();
    }
}
