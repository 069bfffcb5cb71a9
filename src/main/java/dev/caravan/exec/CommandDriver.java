package dev.caravan.exec;

import dev.caravan.lease.ClaimedShard;
import dev.caravan.shard.FailureClass;
import dev.caravan.shard.OperatorRows;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Engine {@code command}: any program, once per shard. It reads {input}, writes {output} and exits with 0. */
final class CommandDriver implements EngineDriver {
    private static final int NOT_EXECUTABLE = 126;
    private static final int NOT_FOUND = 127;
    private static final Pattern PLACEHOLDER = Pattern.compile("\\{[a-z_]+}");

    private final Map<String, String> surroundings;

    CommandDriver(Map<String, String> surroundings) {
        this.surroundings = Map.copyOf(surroundings);
    }

    @Override
    public Start start(Trial trial, Gpus.Grant gpus) {
        ClaimedShard shard = trial.shard();
        Map<String, String> values = Map.of(
                "{input}", trial.input().toString(),
                "{output}", result(trial).toString(),
                "{shard}", shard.shard().id().toString(),
                "{attempt_dir}", trial.directory().path().toString());
        List<String> command = shard.manifest().execution().command().stream()
                .map(argument -> replace(argument, values))
                .toList();
        Map<String, String> environment = Caches.of(shard.job().layout(), surroundings);
        environment.put("CUDA_VISIBLE_DEVICES", gpus.visibleDevices());
        return new Start(command, environment, List.of(), null);
    }

    /** In one pass, so that a path that happens to hold a placeholder stays as it is. */
    private static String replace(String argument, Map<String, String> values) {
        return PLACEHOLDER
                .matcher(argument)
                .replaceAll(found -> Matcher.quoteReplacement(values.getOrDefault(found.group(), found.group())));
    }

    @Override
    public Path result(Trial trial) {
        return trial.directory().commandOutput();
    }

    @Override
    public List<OperatorRows> operators(Trial trial) {
        return List.of();
    }

    @Override
    public AttemptFailed explain(Trial trial, int exitCode) {
        String program = trial.shard().manifest().execution().command().get(0);
        if (exitCode == NOT_FOUND || exitCode == NOT_EXECUTABLE) {
            return new AttemptFailed(
                    FailureClass.INFRA,
                    "Unable to start " + program + " (exit code " + exitCode
                            + "): the program must exist and be executable at this path on every node");
        }
        return AttemptFailed.onSomeRecord(program + " returned exit code " + exitCode, AttemptFailed.Suspicion.UNKNOWN);
    }
}
