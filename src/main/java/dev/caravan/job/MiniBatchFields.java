package dev.caravan.job;

import dev.caravan.settings.ByteSizes;
import dev.caravan.shard.MiniBatch;
import dev.caravan.shard.MiniBatch.Size;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** What a descriptor says of engine mini-batch: in its section, and among the arguments of the script. */
final class MiniBatchFields {
    static final String SECTION = "mini_batch";
    static final String INPUTS = "inputs";
    private static final String ARGUMENTS = "arguments";
    private static final String PROFILE = "cProfile";
    private static final int LONGEST = 259_200;
    private static final String SECONDS = "expected whole seconds, from 1 to " + LONGEST;
    private static final String COUNT = "expected a whole number of at least 1";
    private static final String INTERVAL = "expected whole seconds, 0 for never";
    private static final String THRESHOLD = "expected -1 (any number) or a whole number of at least 0";
    private static final String SIZE = "expected a number of files, or bytes as " + ByteSizes.EXPECTED;

    /** Options that are taken out of the script's arguments; all others are passed on. */
    private static final List<String> OPTIONS = List.of(
            "error_threshold",
            "mini_batch_error_threshold",
            "allowed_failed_percent",
            "task_overhead_timeout",
            "resource_monitor_interval",
            "profiling_module");

    private final Fields root;
    private final Fields section;
    private final Map<String, String> options = new LinkedHashMap<>();
    private final List<String> passedOn = new ArrayList<>();

    MiniBatchFields(Fields root, Fields section) {
        this.root = root;
        this.section = section;
        List<String> arguments = root.texts(ARGUMENTS);
        for (int i = 0; i < arguments.size(); i++) {
            String argument = arguments.get(i);
            int equals = argument.indexOf('=');
            String name = equals < 0 ? argument : argument.substring(0, equals);
            if (!name.startsWith("--") || !OPTIONS.contains(name.substring(2))) {
                passedOn.add(argument);
            } else if (equals >= 0) {
                option(name.substring(2), argument.substring(equals + 1));
            } else if (i + 1 < arguments.size()) {
                option(name.substring(2), arguments.get(++i));
            } else {
                root.refuse(ARGUMENTS, "expected a value behind " + name + ", found the end of the list");
            }
        }
    }

    private void option(String name, String value) {
        if (options.put(name, value) != null || section.has(name)) {
            root.refuse(
                    ARGUMENTS, "expected --" + name + " once, in the section " + SECTION + " or among the arguments");
        }
    }

    List<String> passedOn() {
        return passedOn;
    }

    /** @param paths of a field, absolute */
    MiniBatch read(Function<String, List<String>> paths) {
        String type = oneOf("dataset_type", MiniBatch.FILE, MiniBatch.TABULAR);
        if (!section.has(INPUTS)) {
            section.refuse(INPUTS, "required: files and folders to make mini-batches of, as a list; found nothing");
        }
        return new MiniBatch(
                paths.apply(INPUTS),
                type,
                section.parsed("mini_batch_size", SIZE, text -> size(type, text))
                        .orElse(type.equals(MiniBatch.FILE) ? new Size(10L, null) : new Size(null, 1_000_000L)),
                value("error_threshold", THRESHOLD, text -> (long) Numbers.whole(text, -1, THRESHOLD), -1L),
                value("mini_batch_error_threshold", THRESHOLD, text -> (long) Numbers.whole(text, -1, THRESHOLD), -1L),
                value("allowed_failed_percent", Numbers.PERCENT, Numbers::percent, 100.0),
                oneOf("output_action", MiniBatch.APPEND_ROW, MiniBatch.SUMMARY_ONLY),
                section.parsed("append_row_file_name", "expected a file name", MiniBatchFields::fileName)
                        .orElse("parallel_run_step.txt"),
                section.parsed("process_count_per_node", COUNT, text -> Numbers.whole(text, 1, COUNT))
                        .orElse(null),
                value("run_invocation_timeout", SECONDS, MiniBatchFields::seconds, 60),
                value("run_max_try", COUNT, text -> Numbers.whole(text, 1, COUNT), 3),
                value("task_overhead_timeout", SECONDS, MiniBatchFields::seconds, 600),
                oneOf("logging_level", "INFO", "WARNING", "DEBUG"),
                paths.apply("side_inputs"),
                value("resource_monitor_interval", INTERVAL, text -> Numbers.whole(text, 0, INTERVAL), 600),
                value("profiling_module", "expected " + PROFILE, MiniBatchFields::module, null));
    }

    private <T extends @Nullable Object> T value(String name, String expected, Function<String, T> parse, T otherwise) {
        @Nullable String option = options.get(name);
        if (option == null) {
            return section.parsed(name, expected, parse).orElse(otherwise);
        }
        try {
            return parse.apply(option);
        } catch (IllegalArgumentException e) {
            root.refuse(ARGUMENTS, "--" + name + ": " + e.getMessage());
            return otherwise;
        }
    }

    /** The first one is the default. */
    private String oneOf(String name, String... known) {
        String expected = "expected " + String.join(" or ", known);
        return section.parsed(name, expected, text -> {
                    if (!List.of(known).contains(text)) {
                        throw new IllegalArgumentException(expected + ", found '" + text + "'");
                    }
                    return text;
                })
                .orElse(known[0]);
    }

    private static Size size(String type, String text) {
        boolean number = text.chars().allMatch(Character::isDigit);
        if (number && type.equals(MiniBatch.FILE)) {
            return new Size((long) Numbers.whole(text, 1, SIZE), null);
        }
        long bytes = ByteSizes.parse(text);
        if (bytes < 1) {
            throw new IllegalArgumentException(SIZE + ", found '" + text + "'");
        }
        return new Size(null, bytes);
    }

    private static String fileName(String text) {
        if (text.isBlank() || text.contains("/") || text.equals(".") || text.equals("..")) {
            throw new IllegalArgumentException("expected a file name without a folder, found '" + text
                    + "'; the file lies in output/ of the job directory");
        }
        return text;
    }

    private static int seconds(String text) {
        int seconds = Numbers.whole(text, 1, SECONDS);
        if (seconds > LONGEST) {
            throw new IllegalArgumentException(SECONDS + ", found '" + text + "'");
        }
        return seconds;
    }

    private static String module(String text) {
        if (!text.equals(PROFILE)) {
            throw new IllegalArgumentException("expected " + PROFILE + ", found '" + text + "'");
        }
        return text;
    }

    /** As a descriptor says it. */
    static Map<String, @Nullable Object> section(MiniBatch options) {
        Map<String, @Nullable Object> fields = new LinkedHashMap<>();
        fields.put(INPUTS, options.inputs());
        fields.put("dataset_type", options.datasetType());
        fields.put("mini_batch_size", options.miniBatchSize().toString());
        fields.put("error_threshold", options.errorThreshold());
        fields.put("mini_batch_error_threshold", options.miniBatchErrorThreshold());
        fields.put("allowed_failed_percent", options.allowedFailedPercent());
        fields.put("output_action", options.outputAction());
        fields.put("append_row_file_name", options.appendRowFileName());
        fields.put("process_count_per_node", options.processCountPerNode());
        fields.put("run_invocation_timeout", options.runInvocationTimeout());
        fields.put("run_max_try", options.runMaxTry());
        fields.put("task_overhead_timeout", options.taskOverheadTimeout());
        fields.put("logging_level", options.loggingLevel());
        fields.put("side_inputs", options.sideInputs());
        fields.put("resource_monitor_interval", options.resourceMonitorInterval());
        fields.put("profiling_module", options.profilingModule());
        return fields;
    }
}
