package dev.caravan.cli;

import dev.caravan.status.JobStatus;
import dev.caravan.status.ReadModel;
import dev.caravan.status.StatusReader;
import dev.caravan.status.StatusText;
import dev.caravan.store.Json;
import dev.caravan.store.Layout;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
        name = "status",
        mixinStandardHelpOptions = true,
        description =
                "Shows a job, read from its directory alone. Exits with 0 done, 1 not finished, 2 failed or cancelled.")
final class StatusCommand implements Callable<Integer> {
    @Option(names = "--job-dir", required = true, paramLabel = "DIR", description = "The job directory.")
    Path jobDir;

    @Option(
            names = "--lock-timeout-secs",
            paramLabel = "N",
            description =
                    "Age of a claim's last beat from which it is shown as stale. Default: the setting claim.lease.")
    @Nullable
    Long lockTimeoutSecs;

    @Option(names = "--json", description = "One JSON object on stdout.")
    boolean json;

    @Option(names = "--all", description = "Every shard with its state.")
    boolean all;

    @Mixin
    SettingsOptions settings = new SettingsOptions();

    /**
     * The command in its plain forms, read without the parser of command lines, whose start takes as long as all the rest:
     * a status is asked for often.
     *
     * @return empty for the parser, which knows more options and says what is wrong
     */
    static Optional<StatusCommand> plain(List<String> args) {
        if (args.isEmpty() || !args.get(0).equals("status")) {
            return Optional.empty();
        }
        StatusCommand status = new StatusCommand();
        @Nullable Path dir = null;
        for (Iterator<String> rest = args.subList(1, args.size()).iterator(); rest.hasNext(); ) {
            String option = rest.next();
            String value = option.equals("--job-dir") && rest.hasNext() ? rest.next() : "";
            if (dir == null && !value.isEmpty() && !value.startsWith("-")) {
                dir = Path.of(value);
            } else if (option.equals("--json") && !status.json) {
                status.json = true;
            } else if (option.equals("--all") && !status.all) {
                status.all = true;
            } else {
                return Optional.empty();
            }
        }
        if (dir == null) {
            return Optional.empty();
        }
        status.jobDir = dir;
        return Optional.of(status);
    }

    @Override
    public Integer call() throws IOException {
        Duration staleAfter =
                lockTimeoutSecs == null ? settings.load().duration("claim.lease") : Duration.ofSeconds(lockTimeoutSecs);
        JobStatus status = new StatusReader(new Layout.Job(jobDir), staleAfter).read();
        if (json) {
            System.out.println(Json.line(all ? status : status.withoutShardLines()));
        } else {
            System.out.print(StatusText.of(status, all));
            Optional<Layout.Root> root = new Layout.Job(jobDir).root();
            if (root.isPresent()) {
                ReadModel.ofRoot(root.get(), staleAfter, Clock.systemUTC())
                        .troubles()
                        .forEach(trouble -> System.out.println("trouble " + trouble));
            }
        }
        return status.exitCode();
    }
}
