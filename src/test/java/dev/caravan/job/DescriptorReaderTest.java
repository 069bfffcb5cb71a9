package dev.caravan.job;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.caravan.shard.BadRecords;
import dev.caravan.shard.Checkpoint;
import dev.caravan.shard.Engine;
import dev.caravan.shard.Execution;
import dev.caravan.shard.Execution.Ray;
import dev.caravan.shard.GpuDemand;
import dev.caravan.shard.OnBadRecord;
import dev.caravan.shard.OutputForm;
import dev.caravan.shard.PlanExecute;
import dev.caravan.shard.Poison;
import dev.caravan.shard.Policy;
import dev.caravan.shard.Script;
import dev.caravan.shard.ShardForm;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class DescriptorReaderTest {
    private static final Path BASE = Path.of("/mnt/shared/inbox");
    private static final String MINIMAL = "name: clean\nrecipe: r.yaml\n";
    private static final String COMMAND =
            "name: tr\nengine: command\ncommand: [tr, '{input}', '{output}']\ndataset_path: in\n";

    private static final String FULL_YAML = """
            name: web-2026.10
            priority: -3
            engine: data-juicer
            recipe: recipes/clean.yaml
            dataset_path: ../data/web
            output: /mnt/out/web.jsonl
            num_shards: 64
            shards: ranges
            ray:
              address: auto
              num_cpus: 8
              num_gpus: 0.5
              object_store_memory: 2GiB
            checkpoint:
              id_column: uid
              path: /mnt/kept
              delete_on_success: true
            policy:
              max_retries: 0
              max_infra_retries: 20
              max_timeout_retries: 2
              max_stalled_retries: 4
              attempt_timeout: 2h
              stall_timeout: 90s
              on_bad_record: quarantine
              max_bad_records: 1000
              max_bad_percent: 0.5
              isolate_poison: true
              max_failed_records: 7
              max_failed_percent: 0.25
              speculate: false
            """;

    private static final String FULL_JSON = """
            {
            \t"name": "web-2026.10", "priority": -3, "engine": "data-juicer", "recipe": "recipes/clean.yaml",
            \t"dataset_path": "../data/web", "output": "/mnt/out/web.jsonl", "num_shards": 64, "shards": "ranges",
            \t"command": null,
            \t"ray": {"address": "auto", "num_cpus": 8.0, "num_gpus": 5e-1, "object_store_memory": 2147483648},
            \t"checkpoint": {"id_column": "uid", "path": "/mnt/kept", "delete_on_success": true},
            \t"policy": {"max_retries": 0, "max_infra_retries": 20, "max_timeout_retries": 2,
            \t\t"max_stalled_retries": 4, "attempt_timeout": "120m", "stall_timeout": "90s",
            \t\t"on_bad_record": "quarantine", "max_bad_records": 1000, "max_bad_percent": 5e-1,
            \t\t"isolate_poison": true, "max_failed_records": 7, "max_failed_percent": 0.25,
            \t\t"speculate": false}
            }
            """;

    private static final JobDescriptor FULL = new JobDescriptor(
            "web-2026.10",
            -3,
            new Execution(
                    Engine.DATA_JUICER,
                    List.of(),
                    new Ray("auto", 8.0, new GpuDemand(0.5), 2L << 30),
                    null,
                    null,
                    null,
                    new Checkpoint("uid", "/mnt/kept", true)),
            "/mnt/shared/inbox/recipes/clean.yaml",
            "/mnt/shared/data/web",
            "/mnt/out/web.jsonl",
            OutputForm.FILE,
            64,
            ShardForm.RANGES,
            new Policy(
                    0,
                    20,
                    2,
                    4,
                    Duration.ofHours(2),
                    Duration.ofSeconds(90),
                    new BadRecords(OnBadRecord.QUARANTINE, 1000L, 0.5),
                    new Poison(true, 7, 0.25),
                    false));

    @Test
    void every_field_is_read() {
        assertThat(read(FULL_YAML)).isEqualTo(FULL);
    }

    @Test
    void a_script_and_how_its_plan_is_executed_are_read_and_survive_the_canonical_form() {
        JobDescriptor job = read("""
                name: search
                engine: plan-execute
                script: code/tasks/search.py
                source_directory: code
                arguments: [--rates, "10"]
                plan_execute:
                  workers: 8
                  retries: 0
                  sink: ../sink
                  resume: true
                  rerun_failed: [infra, cancelled]
                """);

        assertThat(job.execution().script())
                .isEqualTo(new Script(
                        "/mnt/shared/inbox/code/tasks/search.py",
                        "/mnt/shared/inbox/code",
                        "/mnt/shared/inbox/code/tasks",
                        List.of("--rates", "10"),
                        null));
        assertThat(job.execution().script().name()).isEqualTo("tasks/search.py");
        assertThat(job.execution().planExecute())
                .isEqualTo(new PlanExecute(
                        8, 1, 0, false, 0, "/mnt/shared/sink", true, List.of("infra", "cancelled"), List.of()));
        assertThat(job.policy().poison()).isEqualTo(new Poison(true, Integer.MAX_VALUE, 100));
        assertThat(DescriptorReader.read(CanonicalDescriptor.bytes(job), "again", Path.of("/elsewhere")))
                .isEqualTo(job);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "dataset_path: x.jsonl | dataset_path: expected none, since plan() of the script is the input",
                "source_directory: elsewhere | source_directory: expected a folder that holds the script, found"
                        + " /mnt/shared/inbox/elsewhere, and the script is /mnt/shared/inbox/task.py",
                "ray: {address: auto} | ray.address: expected warm or local with engine plan-execute",
                "policy: {isolate_poison: false} | policy.isolate_poison: expected true or nothing with engine plan-execute",
                "plan_execute: {resume: true} | plan_execute.resume: expected only with a sink, which says what is done",
                "plan_execute: {sink: s, rerun_failed: [infra]} | plan_execute.rerun_failed: expected only with resume: true",
                "plan_execute: {sink: s, resume: true, rerun_failed: [all]} | expected some of [execute, infra,"
                        + " cancelled], found 'all'",
                "output: {form: parts} | output.form: expected file with engine plan-execute, which makes files of its own",
                "plan_execute: {workers: 0} | plan_execute.workers: expected a whole number of at least 1, found '0'",
            })
    void what_does_not_go_with_a_script_is_refused(String field, String problem) {
        assertThatThrownBy(() -> read("name: x\nengine: plan-execute\nscript: task.py\n" + field + "\n"))
                .isInstanceOf(DescriptorException.class)
                .hasMessageContaining(problem);
    }

    @Test
    void all_gpus_of_a_node_can_be_asked_for_and_survive_the_canonical_form() {
        JobDescriptor job = read(MINIMAL + "ray: {num_gpus: all}\n");

        assertThat(job.execution().ray().numGpus()).isEqualTo(GpuDemand.ALL);
        assertThat(DescriptorReader.read(CanonicalDescriptor.bytes(job), "again", Path.of("/")))
                .isEqualTo(job);
    }

    @Test
    void an_output_of_parts_survives_the_canonical_form() {
        for (String asked : List.of("output: {path: ../out/web, form: parts}", "output: {form: parts}")) {
            JobDescriptor job = read(MINIMAL + asked + "\n");

            assertThat(job.outputForm()).isEqualTo(OutputForm.PARTS);
            assertThat(job.output()).isEqualTo(asked.contains("path") ? "/mnt/shared/out/web" : null);
            assertThat(DescriptorReader.read(CanonicalDescriptor.bytes(job), "again", Path.of("/")))
                    .isEqualTo(job);
        }
        assertThat(read(MINIMAL + "output: {path: o.jsonl, form: file}\n"))
                .isEqualTo(read(MINIMAL + "output: o.jsonl\n"));
    }

    @Test
    void json_asks_for_the_same_as_yaml() {
        assertThat(read(FULL_JSON)).isEqualTo(FULL);
    }

    @Test
    void absent_fields_have_defaults() {
        assertThat(read(MINIMAL))
                .isEqualTo(new JobDescriptor(
                        "clean",
                        0,
                        new Execution(Engine.DATA_JUICER, List.of(), new Ray("warm", null, null, null)),
                        "/mnt/shared/inbox/r.yaml",
                        null,
                        null,
                        OutputForm.FILE,
                        null,
                        null,
                        new Policy(
                                3,
                                10,
                                1,
                                3,
                                Duration.ZERO,
                                Duration.ZERO,
                                new BadRecords(OnBadRecord.FAIL, null, null),
                                new Poison(false, 100, 100),
                                null)));
    }

    @Test
    void a_field_without_a_value_is_absent() {
        assertThat(read(MINIMAL
                        + "engine:\ndataset_path: ~\noutput: null\nnum_shards:\nray:\npolicy:\n  max_retries:\n"))
                .isEqualTo(read(MINIMAL))
                .isEqualTo(read(MINIMAL + "num_shards: auto\nengine: data-juicer\n"));
    }

    @Test
    void a_command_keeps_its_arguments_and_a_program_on_the_path_its_name() {
        JobDescriptor job = read("name: n\nengine: command\ndataset_path: in.jsonl\n"
                + "command:\n- jq\n- -c\n- 010\n- '--in={input}'\n- ''\n- ../x/{output}\n");

        assertThat(job.execution().engine()).isEqualTo(Engine.COMMAND);
        assertThat(job.execution().command()).containsExactly("jq", "-c", "010", "--in={input}", "", "../x/{output}");
        assertThat(job.datasetPath()).isEqualTo("/mnt/shared/inbox/in.jsonl");
        assertThat(job.recipe()).isNull();
    }

    @Test
    void a_program_with_a_slash_is_a_path_beside_the_descriptor() {
        assertThat(read(COMMAND.replace("[tr", "[../bin/tr")).execution().command())
                .containsExactly("/mnt/shared/bin/tr", "{input}", "{output}");
        assertThat(read(COMMAND.replace("[tr", "[/usr/bin/tr")).execution().command())
                .startsWith("/usr/bin/tr");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "naem: x | 3: naem: unknown field; did you mean name?",
                "priority: high | 3: priority: expected a whole number, found 'high'",
                "priority: 1.5 | 3: priority: expected a whole number, found '1.5'",
                "max_retries: 3 | 3: max_retries: unknown field; did you mean policy.max_retries?",
                "colour: red | 3: colour: unknown field",
                "ray:\\n  adress: auto | 4: ray.adress: unknown field; did you mean ray.address?",
                "policy:\\n\\n  retries: 1 | 5: policy.retries: unknown field; did you mean policy.max_retries?",
                "policy: 3 | 3: policy: expected a section with fields of its own, found '3'",
                "ray: [local] | 3: ray: expected a section with fields of its own, found a list",
                "name: again | 3: name: given twice, first in line 1; remove one",
                "engine: ray | 3: engine: engine must be one of data-juicer, command, plan-execute, mini-batch, not 'ray'",
                "engine: [command] | 3: engine: expected one of data-juicer, command, plan-execute, mini-batch, found a list",
                "command: [x, '{input}', '{output}'] | 3: command: expected only with engine command, found engine"
                        + " data-juicer; remove the field or set engine: command",
                "dataset_path: s3://bucket/x | 3: dataset_path: expected a path on a file system that all nodes share,"
                        + " found 's3://bucket/x'",
                "dataset_path: '' | 3: dataset_path: expected a path on a file system that all nodes share, found ''",
                "dataset_path: {a: b} | 3: dataset_path: expected text, found a section with keys of its own",
                "output: \"a\\0b\" | 3: output: expected a path, found 'a\0b': Nul character not allowed",
                "output: r.yaml | 3: output: expected a file of its own, found /mnt/shared/inbox/r.yaml, which is the"
                        + " job's input",
                "num_shards: 0 | 3: num_shards: expected auto or a whole number of at least 1, found '0'",
                "num_shards: many | 3: num_shards: expected auto or a whole number of at least 1, found 'many'",
                "num_shards: 1.5 | 3: num_shards: expected auto or a whole number of at least 1, found '1.5'",
                "num_shards: 3000000000 | 3: num_shards: expected auto or a whole number of at least 1, found"
                        + " '3000000000'",
                "num_shards: [4] | 3: num_shards: expected auto or a whole number of at least 1, found a list",
                "ray:\\n  address: 10.0.0.1:6379 | 4: ray.address: expected local (a Ray of its own for each attempt), warm (one"
                        + " that stays, with its operators) or auto (the one that runs on the node), found '10.0.0.1:6379'",
                "ray:\\n  num_cpus: 0 | 4: ray.num_cpus: expected a number above 0, found '0'",
                "ray:\\n  num_cpus: all | 4: ray.num_cpus: expected a number above 0, found 'all'",
                "ray:\\n  num_gpus: -1 | 4: ray.num_gpus: expected a number of at least 0, or all, found '-1'",
                "ray:\\n  num_gpus: .inf | 4: ray.num_gpus: expected a number of at least 0, or all, found '.inf'",
                "ray:\\n  num_gpus: 1e999 | 4: ray.num_gpus: expected a number of at least 0, or all, found '1e999'",
                "ray:\\n  object_store_memory: 2G | 4: ray.object_store_memory: expected a size (bytes, or a whole"
                        + " number and a unit: 512MB, 2GiB), found '2G'",
                "ray:\\n  object_store_memory: 74MiB | 4: ray.object_store_memory: expected at least 75MiB, with less"
                        + " Ray does not start, found '74MiB'",
                "policy:\\n  max_retries: -1 | 4: policy.max_retries: expected a whole number of at least 0, found"
                        + " '-1'",
                "policy:\\n  max_infra_retries: x | 4: policy.max_infra_retries: expected a whole number of at least"
                        + " 0, found 'x'",
                "policy:\\n  max_timeout_retries: 1.0 | 4: policy.max_timeout_retries: expected a whole number of at"
                        + " least 0, found '1.0'",
                "policy:\\n  max_stalled_retries: [] | 4: policy.max_stalled_retries: expected a whole number of at"
                        + " least 0, found a list",
                "policy:\\n  attempt_timeout: 10 | 4: policy.attempt_timeout: expected a duration (a whole number and"
                        + " a unit: 500ms, 8s, 2m, 35h, 1d), found '10': the unit is missing; write 10s if seconds are"
                        + " meant",
                "policy:\\n  stall_timeout: -1s | 4: policy.stall_timeout: expected a duration (a whole number and a"
                        + " unit: 500ms, 8s, 2m, 35h, 1d), found '-1s': a duration cannot be negative",
                "policy:\\n  isolate_poison: yes | 4: policy.isolate_poison: expected true or false, found 'yes'",
                "policy:\\n  max_failed_records: -1 | 4: policy.max_failed_records: expected a whole number of at"
                        + " least 0, found '-1'",
                "policy:\\n  max_failed_percent: 101 | 4: policy.max_failed_percent: expected a number from 0 to"
                        + " 100, found '101'",
                "policy:\\n  on_bad_record: skip\\n  max_bad_records: 3 | 4: policy.on_bad_record: on_bad_record must be"
                        + " fail or quarantine, not 'skip'",
                "checkpoint: {path: x} | 3: checkpoint.id_column: required: the key of the records whose value tells each from"
                        + " all others; found nothing",
                "checkpoint: {id_column: id, path: 's3://x'} | 3: checkpoint.path: expected a path on a file system"
                        + " that all nodes share, found 's3://x'",
                "checkpoint: {id_column: id, delete_on_success: 1} | 3: checkpoint.delete_on_success: expected true or"
                        + " false, found '1'",
                "checkpoint: {id_column: id, every: 1} | 3: checkpoint.every: unknown field; did you mean checkpoint.path?",
                "policy:\\n  max_bad_records: 3 | 4: policy.max_bad_records: expected only with on_bad_record:"
                        + " quarantine, found on_bad_record: fail, which allows no bad record at all",
                "policy:\\n  on_bad_record: quarantine\\n  max_bad_records: -3 | 5: policy.max_bad_records: expected a"
                        + " whole number of at least 0, found '-3'",
                "policy:\\n  on_bad_record: quarantine\\n  max_bad_percent: 101 | 5: policy.max_bad_percent: expected a"
                        + " number from 0 to 100, found '101'"
            })
    void a_wrong_field_is_refused_with_its_line(String added, String expected) {
        assertThat(refusal(MINIMAL + added.replace("\\n", "\n"))).containsExactly("job.yaml:" + expected);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "tr '{input}' '{output}' | 3: command: expected a list of texts, found 'tr '{input}' '{output}''; write"
                        + " [program, argument, ...]",
                "[] | 3: command: expected at least a program, found an empty list",
                "['', '{input}', '{output}'] | 3: command: expected a program as the first element, found ''",
                "[tr, '{input}'] | 3: command: expected an argument with {output}, found none; put {output} where the"
                        + " program takes the path of its output file",
                "[tr, '{output}'] | 3: command: expected an argument with {input}, found none; put {input} where the"
                        + " program takes the path of its input file",
                "[tr, '{input}', '{output}', [x]] | 3: command[3]: expected text, found a list",
                "[tr, '{input}', '{output}', ~] | 3: command[3]: expected text, found nothing"
            })
    void a_wrong_command_is_refused_with_its_line(String command, String expected) {
        assertThat(refusal("name: tr\nengine: command\ncommand: " + command + "\ndataset_path: in\n"))
                .containsExactly("job.yaml:" + expected);
    }

    @ParameterizedTest
    @ValueSource(strings = {"''", ".hidden", "-x", "a/b", "'a b'", "ü", "..", "'a\n\n  b'"})
    void a_name_that_is_no_directory_name_is_refused(String name) {
        assertThat(refusal("recipe: r.yaml\nname: " + name + "\n"))
                .singleElement()
                .asString()
                .startsWith("job.yaml:2: name: expected at most 100 letters, digits, dots, dashes and underscores");
    }

    @Test
    void a_name_has_at_most_100_characters() {
        assertThat(read("recipe: r\nname: " + "n".repeat(100)).name()).hasSize(100);
        assertThat(refusal("recipe: r\nname: " + "n".repeat(101))).hasSize(1);
    }

    @Test
    void everything_wrong_is_reported_at_once() {
        assertThat(refusal("engine: command\nrecipe: r.yaml\nnum_shards: 0\npolicy:\n  max_retrys: 1\n"))
                .containsExactly(
                        "job.yaml:1: name: required: it names the job and its directory; found nothing",
                        "job.yaml:2: recipe: expected only with engine data-juicer, found engine command; remove the"
                                + " field or set engine: data-juicer",
                        "job.yaml:1: command: required: the program to run and its arguments, as a list; found"
                                + " nothing",
                        "job.yaml:1: dataset_path: required: engine command has no recipe that could name the input;"
                                + " found nothing",
                        "job.yaml:3: num_shards: expected auto or a whole number of at least 1, found '0'",
                        "job.yaml:5: policy.max_retrys: unknown field; did you mean policy.max_retries?");
    }

    @Test
    void an_empty_descriptor_says_what_is_required() {
        assertThat(refusal(""))
                .containsExactly(
                        "job.yaml:1: name: required: it names the job and its directory; found nothing",
                        "job.yaml:1: recipe: required: the Data-Juicer recipe to run; found nothing");
    }

    @Test
    void a_document_that_cannot_be_read_is_not_blamed_for_missing_fields() {
        assertThat(refusal("name: [x\n"))
                .singleElement()
                .asString()
                .startsWith("job.yaml:2: not valid YAML while parsing a flow sequence");
        assertThat(refusal("name: &n x\nrecipe: r\n"))
                .containsExactly("job.yaml:1: name: anchors (&n) are not supported; write the value out");
    }

    @Test
    void the_message_holds_every_problem() {
        DescriptorException refused =
                catchThrowableOfType(DescriptorException.class, () -> read("num_shards: 0\nrecipe: r\n"));

        assertThat(refused)
                .hasMessage("The job descriptor job.yaml cannot be used:\n"
                        + "  job.yaml:1: name: required: it names the job and its directory; found nothing\n"
                        + "  job.yaml:1: num_shards: expected auto or a whole number of at least 1, found '0'");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {FULL_YAML, MINIMAL, COMMAND, MINIMAL + "dataset_path: \"dät\\ta\\u007f\\u0085\\u2028/\\\"😀'\"\n"
            })
    void the_canonical_form_reads_back_as_the_same(String yaml) {
        JobDescriptor job = read(yaml);

        byte[] canonical = CanonicalDescriptor.bytes(job);

        assertThat(DescriptorReader.read(canonical, "job.json", Path.of("/elsewhere")))
                .isEqualTo(job);
    }

    @Test
    void the_canonical_form_is_equal_for_those_who_ask_for_the_same_only() {
        byte[] canonical = CanonicalDescriptor.bytes(read(FULL_YAML));

        assertThat(canonical).isEqualTo(CanonicalDescriptor.bytes(read(FULL_JSON)));
        assertThat(canonical)
                .isNotEqualTo(CanonicalDescriptor.bytes(read(FULL_YAML.replace("max_retries: 0", "max_retries: 1"))));
    }

    private static JobDescriptor read(String text) {
        return DescriptorReader.read(text.getBytes(StandardCharsets.UTF_8), "job.yaml", BASE);
    }

    private static List<String> refusal(String text) {
        return catchThrowableOfType(DescriptorException.class, () -> read(text)).problems();
    }
}
