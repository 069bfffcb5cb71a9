package dev.caravan.job;

import dev.caravan.settings.Problems;
import dev.caravan.settings.YamlNode.Mapping;
import dev.caravan.settings.YamlReader;
import dev.caravan.shard.Checkpoint;
import dev.caravan.shard.Engine;
import dev.caravan.shard.Execution;
import dev.caravan.shard.Execution.Ray;
import dev.caravan.shard.MiniBatch;
import dev.caravan.shard.OutputForm;
import dev.caravan.shard.PlanExecute;
import dev.caravan.shard.Script;
import dev.caravan.shard.ShardForm;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Reads a job descriptor, YAML or JSON. Whether the files it names exist is asked later, by prepare. */
public final class DescriptorReader {
    static final String AUTO = "auto";
    private static final List<String> FIELDS = List.of(
            "name",
            "priority",
            "engine",
            "recipe",
            "command",
            "script",
            "source_directory",
            "working_directory",
            "arguments",
            "plan_execute",
            "plan_execute.workers",
            "plan_execute.per_worker",
            "plan_execute.retries",
            "plan_execute.generate_ids",
            "plan_execute.limit",
            "plan_execute.sink",
            "plan_execute.resume",
            "plan_execute.rerun_failed",
            "plan_execute.labels",
            "mini_batch",
            "mini_batch.inputs",
            "mini_batch.dataset_type",
            "mini_batch.mini_batch_size",
            "mini_batch.error_threshold",
            "mini_batch.mini_batch_error_threshold",
            "mini_batch.allowed_failed_percent",
            "mini_batch.output_action",
            "mini_batch.append_row_file_name",
            "mini_batch.process_count_per_node",
            "mini_batch.run_invocation_timeout",
            "mini_batch.run_max_try",
            "mini_batch.task_overhead_timeout",
            "mini_batch.logging_level",
            "mini_batch.side_inputs",
            "mini_batch.resource_monitor_interval",
            "mini_batch.profiling_module",
            "dataset_path",
            "output",
            "output.path",
            "output.form",
            "num_shards",
            "shards",
            "ray",
            "ray.address",
            "ray.num_cpus",
            "ray.num_gpus",
            "ray.object_store_memory",
            "checkpoint",
            "checkpoint.id_column",
            "checkpoint.path",
            "checkpoint.delete_on_success",
            "policy",
            "policy.max_retries",
            "policy.max_infra_retries",
            "policy.max_timeout_retries",
            "policy.max_stalled_retries",
            "policy.attempt_timeout",
            "policy.stall_timeout",
            "policy.on_bad_record",
            "policy.max_bad_records",
            "policy.max_bad_percent",
            "policy.isolate_poison",
            "policy.max_failed_records",
            "policy.max_failed_percent",
            "policy.speculate");
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,99}");
    private static final Pattern URL = Pattern.compile("[A-Za-z][A-Za-z0-9+.-]*://.*");

    private static final String PRIORITY = "expected a whole number";

    private final Path base;
    private final Problems problems = new Problems();
    private final boolean complete;
    private final Fields root;

    private DescriptorReader(byte[] content, String source, Path base) {
        this.base = base.toAbsolutePath();
        Mapping mapping = YamlReader.read(content, source, problems);
        this.complete = problems.isEmpty();
        this.root = new Fields(source, mapping, problems).refuseUnknown(FIELDS);
    }

    /**
     * @param source names the descriptor in messages
     * @param base folder against which relative paths are resolved
     * @throws DescriptorException with every problem there is
     */
    public static JobDescriptor read(byte[] yamlOrJson, String source, Path base) {
        DescriptorReader reader = new DescriptorReader(yamlOrJson, source, base);
        JobDescriptor descriptor = reader.descriptor();
        if (!reader.problems.isEmpty()) {
            throw new DescriptorException(source, reader.problems);
        }
        return descriptor;
    }

    private JobDescriptor descriptor() {
        require("name", "it names the job and its directory");
        String name =
                root.parsed("name", "expected text", DescriptorReader::name).orElse("");
        Engine engine = engine();
        String recipe = path("recipe");
        String dataset = path("dataset_path");
        Fields section = root.isSection("output") ? root.section("output").refuseUnknown(FIELDS) : null;
        String output = section == null ? path("output") : path(section, "path");
        if (output != null && (output.equals(dataset) || output.equals(recipe))) {
            root.refuse("output", "expected a file of its own, found " + output + ", which is the job's input");
        }
        return new JobDescriptor(
                name,
                root.parsed("priority", PRIORITY, text -> Numbers.whole(text, Integer.MIN_VALUE, PRIORITY))
                        .orElse(0),
                execution(engine),
                recipe,
                dataset,
                output,
                section == null ? OutputForm.FILE : outputForm(section, engine),
                shards(),
                root.parsed("shards", "expected ranges or files", ShardForm::parse)
                        .orElse(null),
                PolicyFields.read(root.section("policy").refuseUnknown(FIELDS), engine));
    }

    private static OutputForm outputForm(Fields output, Engine engine) {
        OutputForm form = output.parsed("form", "expected file or parts", OutputForm::parse)
                .orElse(OutputForm.FILE);
        if (form == OutputForm.PARTS && engine.isScripted()) {
            output.refuse(
                    "form",
                    "expected file with engine " + engine
                            + ", which makes files of its own from the merged file, found parts");
        }
        return form;
    }

    private static String name(String text) {
        if (!NAME.matcher(text).matches()) {
            throw new IllegalArgumentException("expected at most 100 letters, digits, dots, dashes and underscores,"
                    + " first a letter or digit, found '" + text + "'");
        }
        return text;
    }

    private Engine engine() {
        Optional<Engine> read = root.parsed("engine", "expected one of " + Engine.names(), Engine::parse);
        if (read.isEmpty() && root.has("engine")) {
            return Engine.DATA_JUICER; // reported; what belongs to it cannot be judged
        }
        Engine engine = read.orElse(Engine.DATA_JUICER);
        belongsTo(Engine.DATA_JUICER, "recipe", engine, "the Data-Juicer recipe to run");
        belongsTo(Engine.COMMAND, "command", engine, "the program to run and its arguments, as a list");
        if (engine.isScripted()) {
            require("script", "the Python file to run");
            root.refuseIfThere(
                    "dataset_path",
                    engine == Engine.PLAN_EXECUTE
                            ? "expected none, since plan() of the script is the input"
                            : "expected none, since mini_batch.inputs names the input");
        } else {
            List.of("script", "source_directory", "working_directory", "arguments")
                    .forEach(field -> root.refuseIfThere(
                            field,
                            "expected only with an engine that runs a script, found engine " + engine
                                    + "; remove the field or set engine: plan-execute or mini-batch"));
        }
        if (engine != Engine.PLAN_EXECUTE) {
            belongsOnlyTo(Engine.PLAN_EXECUTE, PlanExecuteFields.SECTION, engine);
        }
        if (engine != Engine.MINI_BATCH) {
            belongsOnlyTo(Engine.MINI_BATCH, MiniBatchFields.SECTION, engine);
        }
        if (engine == Engine.COMMAND) {
            require("dataset_path", "engine command has no recipe that could name the input");
        }
        return engine;
    }

    /** A document that could not be read whole may well hold the field. */
    private void require(String field, String why) {
        if (complete && !root.has(field)) {
            root.refuse(field, "required: " + why + "; found nothing");
        }
    }

    private void belongsTo(Engine owner, String field, Engine engine, String why) {
        if (engine == owner) {
            require(field, why);
        } else {
            belongsOnlyTo(owner, field, engine);
        }
    }

    private void belongsOnlyTo(Engine owner, String field, Engine engine) {
        root.refuseIfThere(
                field,
                "expected only with engine " + owner + ", found engine " + engine + "; remove the field or set engine: "
                        + owner);
    }

    private Execution execution(Engine engine) {
        Fields section = root.section(MiniBatchFields.SECTION).refuseUnknown(FIELDS);
        if (engine != Engine.MINI_BATCH) {
            return new Execution(
                    engine,
                    command(),
                    ray(engine),
                    script(engine, root.texts("arguments")),
                    planExecute(engine),
                    null,
                    checkpoint(engine));
        }
        MiniBatchFields fields = new MiniBatchFields(root, section);
        MiniBatch options = fields.read(field -> paths(section, field));
        return new Execution(
                engine, List.of(), ray(engine), script(engine, fields.passedOn()), null, options, checkpoint(engine));
    }

    private Ray ray(Engine engine) {
        return RayFields.read(root.section("ray").refuseUnknown(FIELDS), engine);
    }

    private List<String> paths(Fields section, String field) {
        return section.texts(field).stream()
                .flatMap(text -> resolve(section, field, text).stream())
                .toList();
    }

    private @Nullable Script script(Engine engine, List<String> arguments) {
        String script = path("script");
        String folder = path("source_directory");
        String working = path("working_directory");
        if (!engine.isScripted() || script == null) {
            return null;
        }
        if (folder != null && !Path.of(script).startsWith(folder)) {
            root.refuse(
                    "source_directory",
                    "expected a folder that holds the script, found " + folder + ", and the script is " + script);
            return null;
        }
        String parent = String.valueOf(Path.of(script).getParent());
        return new Script(script, folder, working == null ? parent : working, arguments, null);
    }

    private @Nullable PlanExecute planExecute(Engine engine) {
        Fields section = root.section(PlanExecuteFields.SECTION).refuseUnknown(FIELDS);
        return engine == Engine.PLAN_EXECUTE ? PlanExecuteFields.read(section, this::path) : null;
    }

    private List<String> command() {
        List<String> command = new ArrayList<>(root.program("command"));
        if (command.isEmpty()) {
            return List.of();
        }
        for (String placeholder : List.of("{input}", "{output}")) {
            if (command.stream().noneMatch(argument -> argument.contains(placeholder))) {
                root.refuse(
                        "command",
                        "expected an argument with " + placeholder + ", found none; put " + placeholder
                                + " where the program takes the path of its " + placeholder.replaceAll("[{}]", "")
                                + " file");
            }
        }
        String program = command.get(0);
        if (program.isBlank()) {
            root.refuse("command", "expected a program as the first element, found ''");
        } else if (program.indexOf('/') >= 0) {
            command.set(0, resolve(root, "command", program).orElse(program));
        }
        return command;
    }

    private @Nullable String path(String field) {
        return path(root, field);
    }

    private @Nullable String path(Fields section, String field) {
        return section.text(field)
                .flatMap(text -> resolve(section, field, text))
                .orElse(null);
    }

    private Optional<String> resolve(Fields section, String field, String text) {
        if (text.isBlank() || URL.matcher(text).matches()) {
            section.refuse(field, "expected a path on a file system that all nodes share, found '" + text + "'");
            return Optional.empty();
        }
        try {
            return Optional.of(base.resolve(text).normalize().toString());
        } catch (InvalidPathException e) {
            section.refuse(field, "expected a path, found '" + e.getInput() + "': " + e.getReason());
            return Optional.empty();
        }
    }

    private @Nullable Integer shards() {
        String expected = "expected auto or a whole number of at least 1";
        OptionalInt shards = root.parsed(
                        "num_shards",
                        expected,
                        text -> text.equals(AUTO)
                                ? OptionalInt.empty()
                                : OptionalInt.of(Numbers.whole(text, 1, expected)))
                .orElse(OptionalInt.empty());
        return shards.isPresent() ? shards.getAsInt() : null;
    }

    private @Nullable Checkpoint checkpoint(Engine engine) {
        if (!root.has("checkpoint")) {
            return null;
        }
        if (engine != Engine.DATA_JUICER) {
            root.refuse(
                    "checkpoint",
                    "expected only with engine data-juicer, found engine " + engine
                            + ", which gives no account of single records; remove the section");
        }
        Fields checkpoint = root.section("checkpoint").refuseUnknown(FIELDS);
        if (!checkpoint.has("id_column")) {
            checkpoint.refuse(
                    "id_column",
                    "required: the key of the records whose value tells each from all others; found nothing");
        }
        return new Checkpoint(
                checkpoint.text("id_column").orElse(""),
                path(checkpoint, "path"),
                checkpoint
                        .parsed("delete_on_success", "expected true or false", Numbers::yesOrNo)
                        .orElse(false));
    }
}
