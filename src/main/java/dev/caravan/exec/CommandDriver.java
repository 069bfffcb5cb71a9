package dev.caravan.exec;

import dev.caravan.lease.ClaimedShard;
import dev.caravan.shard.FailureClass;
import dev.caravan.store.Layout;
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

    @Override
    public Start start(ClaimedShard shard, Path input, Gpus.Grant gpus) {
        Layout.Attempt attempt = shard.attempt();
        Map<String, String> values = Map.of(
                "{input}", input.toString(),
                "{output}", result(shard).toString(),
                "{shard}", shard.shard().id().toString(),
                "{attempt_dir}", attempt.path().toString());
        List<String> command = shard.manifest().execution().command().stream()
                .map(argument -> replace(argument, values))
                .toList();
        return new Start(command, Map.of("CUDA_VISIBLE_DEVICES", gpus.visibleDevices()), List.of(), null);
    }

    /** In one pass, so that a path that happens to hold a placeholder stays as it is. */
    private static String replace(String argument, Map<String, String> values) {
        return PLACEHOLDER
                .matcher(argument)
                .replaceAll(found -> Matcher.quoteReplacement(values.getOrDefault(found.group(), found.group())));
    }

    @Override
    public Path result(ClaimedShard shard) {
        return shard.attempt().commandOutput();
    }

    @Override
    public AttemptFailed explain(ClaimedShard shard, int exitCode) {
        String program = shard.manifest().execution().command().get(0);
        if (exitCode == NOT_FOUND || exitCode == NOT_EXECUTABLE) {
            return new AttemptFailed(
                    FailureClass.INFRA,
                    "Unable to start " + program + " (exit code " + exitCode
                            + "): the program must exist and be executable at this path on every node");
        }
        return new AttemptFailed(FailureClass.DATA, program + " returned exit code " + exitCode);
    }
}
