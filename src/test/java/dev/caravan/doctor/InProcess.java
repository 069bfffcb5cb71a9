package dev.caravan.doctor;

import dev.caravan.store.Probe;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.channels.Channels;
import java.nio.channels.Pipe;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;

/** A doctor whose helpers are threads, so that all of them see the same lying mount. */
final class InProcess {
    static final Effort QUICK =
            new Effort(3, 40, Duration.ofMillis(200), 2, Duration.ofSeconds(20), Duration.ofSeconds(60));

    private InProcess() {}

    static Tools tools(Probe mount) {
        return new Tools(mount, () -> helper(mount), Clock.systemUTC(), System::nanoTime);
    }

    private static HelperLink helper(Probe mount) throws IOException {
        Pipe tasks = Pipe.open();
        Pipe answers = Pipe.open();
        InputStream in = Channels.newInputStream(tasks.source());
        PrintStream out = new PrintStream(Channels.newOutputStream(answers.sink()), true, StandardCharsets.UTF_8);
        Thread serving = new Thread(() -> {
            try (out) {
                new Helper(mount, System::nanoTime).serve(in, out);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
        serving.setDaemon(true);
        serving.start();
        return new HelperLink(
                Channels.newOutputStream(tasks.sink()), Channels.newInputStream(answers.source()), () -> {});
    }
}
