package dev.caravan.job;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.caravan.shard.Engine;
import dev.caravan.shard.MiniBatch;
import dev.caravan.shard.Poison;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

class MiniBatchFieldsTest {
    private static final String START = "name: scoring\nengine: mini-batch\nscript: score.py\n";
    private static final String MINIMAL = START + "mini_batch: {inputs: [images, /mnt/more]}\n";

    private static JobDescriptor read(String yaml) {
        return DescriptorReader.read(yaml.getBytes(StandardCharsets.UTF_8), "job.yaml", Path.of("/mnt/inbox"));
    }

    private static MiniBatch options(String yaml) {
        return Objects.requireNonNull(read(yaml).execution().miniBatch());
    }

    @Test
    void absent_fields_have_the_defaults_of_azure() {
        assertThat(options(MINIMAL))
                .isEqualTo(new MiniBatch(
                        List.of("/mnt/inbox/images", "/mnt/more"),
                        "file",
                        new MiniBatch.Size(10L, null),
                        -1,
                        -1,
                        100,
                        "append_row",
                        "parallel_run_step.txt",
                        null,
                        60,
                        3,
                        600,
                        "INFO",
                        List.of(),
                        600,
                        null));
        assertThat(options(START + "mini_batch: {inputs: [t.csv], dataset_type: tabular}")
                        .miniBatchSize())
                .isEqualTo(new MiniBatch.Size(null, 1_000_000L));
        assertThat(read(MINIMAL).policy().poison()).isEqualTo(new Poison(true, Long.MAX_VALUE, 100));
    }

    @Test
    void every_field_is_read_and_survives_the_canonical_form() {
        JobDescriptor job = read(START + """
                source_directory: .
                arguments: [--model, m.bin, --error_threshold=7, --profiling_module, cProfile]
                mini_batch:
                  inputs: [tables]
                  dataset_type: tabular
                  mini_batch_size: 4KiB
                  mini_batch_error_threshold: 3
                  allowed_failed_percent: 12.5
                  output_action: summary_only
                  append_row_file_name: scores.txt
                  process_count_per_node: 2
                  run_invocation_timeout: 120
                  run_max_try: 1
                  task_overhead_timeout: 30
                  logging_level: DEBUG
                  side_inputs: [labels]
                  resource_monitor_interval: 0
                """);

        assertThat(job.execution().engine()).isEqualTo(Engine.MINI_BATCH);
        assertThat(Objects.requireNonNull(job.execution().script()).arguments())
                .as("what the script gets")
                .containsExactly("--model", "m.bin");
        assertThat(job.execution().miniBatch())
                .isEqualTo(new MiniBatch(
                        List.of("/mnt/inbox/tables"),
                        "tabular",
                        new MiniBatch.Size(null, 4096L),
                        7,
                        3,
                        12.5,
                        "summary_only",
                        "scores.txt",
                        2,
                        120,
                        1,
                        30,
                        "DEBUG",
                        List.of("/mnt/inbox/labels"),
                        0,
                        "cProfile"));
        assertThat(DescriptorReader.read(CanonicalDescriptor.bytes(job), "again", Path.of("/")))
                .isEqualTo(job);
        JobDescriptor byCount = read(MINIMAL);
        assertThat(DescriptorReader.read(CanonicalDescriptor.bytes(byCount), "again", Path.of("/")))
                .isEqualTo(byCount);
    }

    @Test
    void files_are_put_together_by_bytes_where_the_size_has_a_unit() {
        assertThat(options(START + "mini_batch: {inputs: [i], mini_batch_size: 64MB}")
                        .miniBatchSize())
                .isEqualTo(new MiniBatch.Size(null, 64_000_000L));
        assertThat(options(START + "mini_batch: {inputs: [i], mini_batch_size: 64}")
                        .miniBatchSize())
                .isEqualTo(new MiniBatch.Size(64L, null));
    }

    @Test
    void what_cannot_be_is_refused_all_at_once() {
        assertThatThrownBy(() -> read(START + """
                dataset_path: data
                arguments: [--error_threshold, few, --allowed_failed_percent]
                mini_batch:
                  dataset_type: sql
                  mini_batch_size: 0
                  error_threshold: 5
                  run_invocation_timeout: 300000
                  append_row_file_name: a/b
                  partition_keys: [day]
                policy: {max_failed_records: 1}
                """))
                .hasMessageContaining("dataset_path: expected none, since mini_batch.inputs names the input")
                .hasMessageContaining(
                        "expected --error_threshold once, in the section mini_batch or among the arguments")
                .hasMessageContaining(
                        "--error_threshold: expected -1 (any number) or a whole number of at least 0, found 'few'")
                .hasMessageContaining("expected a value behind --allowed_failed_percent, found the end of the list")
                .hasMessageContaining("mini_batch.inputs: required")
                .hasMessageContaining("mini_batch.dataset_type: expected file or tabular, found 'sql'")
                .hasMessageContaining("mini_batch.mini_batch_size: expected")
                .hasMessageContaining("mini_batch.run_invocation_timeout: expected whole seconds, from 1 to 259200")
                .hasMessageContaining("mini_batch.append_row_file_name: expected a file name without a folder")
                .hasMessageContaining("mini_batch.partition_keys: unknown field")
                .hasMessageContaining("policy.max_failed_records: expected nothing with engine mini-batch");
    }
}
